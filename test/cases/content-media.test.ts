import { describe, expect, it } from 'vitest';
import type { ChatMessage, ContentPart } from '../../src/compaction/measure.js';
import { assistant, text, user } from '../support/messages.js';
import { append, quoted, sessionOf, startWithModel, transcriptOf } from './expected.js';

const dataUrl = (chars: number) =>
  `data:image/png;base64,${'iVBORw0KGgo='.repeat(chars / 12)}`.padEnd(chars, 'A').slice(0, chars);
const imagePart = (url: string): ContentPart => ({ type: 'image_url', image_url: { url } });
const textPart = (value: string): ContentPart => ({ type: 'text', text: value });
const parts = (...content: ContentPart[]): ChatMessage => ({ role: 'user', content });

describe('an image inside a message', () => {
  it.each([1_000_000, 10_000_000])('counts nothing, whatever its size: %i chars', async (chars) => {
    const { service } = await startWithModel();
    const id = await service.session([parts(textPart(text(100)), imagePart(dataUrl(chars)))]);
    await append(service, id, assistant(100), user(100), assistant(100));

    const { body } = await service.compact(id);
    expect(body.newSize).toBe(2);
    expect(body.compaction).toMatchObject({ chars_before: 400, chars_after: 202 });
    const { data } = (await service.call('GET', `/sessions/${id}/messages?after=0`)).body;
    expect(data.map((row) => row.chars)).toEqual([100, 100, 100]);
  });

  it('is not sent to the summarizer: a marker stands for it, beside the text of its message', async () => {
    const { service, stub } = await startWithModel((_prompt, _index, { body }) =>
      /image_url|base64,/.test(body)
        ? { status: 400, body: { error: { message: 'no images' } } }
        : { content: 'S1' },
    );
    const message = parts(textPart(text(100)), imagePart(dataUrl(1_000_000)));
    const id = await service.session([message, assistant(100), user(100), assistant(100)]);

    expect((await service.compact(id)).status).toBe(200);
    expect(quoted(stub.prompts[0], 'transcript')).toBe(
      transcriptOf(['user', `${text(100)}\n[image]`], ['assistant', text(100)]),
    );
    expect((await service.messages(id))[0]).toEqual(message);
  });
});

describe('parts that are not text', () => {
  it('leave a marker each, links and file names included, and an image alone is not skipped', async () => {
    const { service, stub } = await startWithModel();
    const id = await service.session([
      parts(
        textPart('see plan'),
        imagePart('https://example.test/plan.png'),
        { type: 'file', file: { filename: 'deck.pdf', file_data: 'data:application/pdf;base64,JVBERi0=' } },
        { type: 'input_audio', input_audio: { data: 'UklGRg==', format: 'wav' } },
        { type: 'hologram' },
      ),
      parts(imagePart(dataUrl(120))),
      assistant(8),
      user(8),
    ]);

    expect((await service.compact(id)).body.newSize).toBe(3);
    expect(quoted(stub.prompts[0], 'transcript')).toBe(
      transcriptOf(
        ['user', 'see plan\n[image: https://example.test/plan.png]\n[file: deck.pdf]\n[audio]\n[hologram]'],
        ['user', '[image]'],
        ['assistant', text(8)],
      ),
    );
  });

  it('are named whoever sends them, and in whatever spelling', async () => {
    const { service, stub } = await startWithModel();
    const content: ContentPart[] = [
      { type: 'image_url', image_url: 'HTTPS://example.test/Plan.PNG' },
      { type: 'image_url' },
      { type: 'image_url', image_url: { url: 'https://example.test/a\nb', detail: 'low' } },
      { type: 'file', file: { file_id: 'file-1' } },
      { type: 'file' },
      { type: 'refusal', refusal: 'I cannot open it' },
      { type: 'holo\ngram', text: 'depth' },
      textPart('that is all'),
    ];
    const id = await service.session(
      [{ role: 'assistant', content }, { role: 'tool', tool_call_id: 'c0', content }, user(11)],
      { compactCount: 60 },
    );

    expect((await service.compact(id)).body.newSize).toBe(2);
    const markers = [
      '[image: HTTPS://example.test/Plan.PNG]',
      '[image]',
      '[image: https://example.test/a b]',
      '[file]',
      '[file]',
      '[refused] I cannot open it',
      '[holo gram] depth',
      'that is all',
    ].join('\n');
    expect(quoted(stub.prompts[0], 'transcript')).toBe(
      transcriptOf(['assistant', markers], ['tool result', markers]),
    );
  });

  it('do not make a session look longer than its text', async () => {
    const { service } = await startWithModel();
    const id = await service.session([
      parts(textPart('ab'), textPart('cd'), { type: 'hologram', text: 'depth' }),
    ]);
    const { body } = await service.call('GET', `/sessions/${id}/context`);
    expect(body).toMatchObject({ chars: 4, tail_count: 1, estimated_tokens: 2 });
    expect(await sessionOf(service, id)).toMatchObject({ message_count: 1 });
  });
});
