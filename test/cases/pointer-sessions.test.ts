import { describe, expect, it } from 'vitest';
import type { ChatMessage } from '../../src/compaction/measure.js';
import { turns } from '../support/messages.js';
import { quoted, sessionOf, startWithModel } from './expected.js';

const marked = (mark: string): ChatMessage[] =>
  turns(12, 100).map((message) => ({ ...message, content: `${mark} ${message.content}` }));
const marksIn = (text: string | undefined) => [...new Set(text?.match(/[A-Z]+-\d+/g) ?? [])].sort();

describe('two sessions in one process', () => {
  it('never see each other when their compactions take turns', async () => {
    const { service, stub } = await startWithModel((prompt) => ({ content: `of ${marksIn(prompt).join()}` }));
    const a = await service.session(marked('ALPHA-1'));
    const b = await service.session(marked('BETA-1'));
    for (const id of [a, b, a, b]) await service.compact(id);

    expect(stub.prompts.map((prompt) => marksIn(prompt))).toEqual([
      ['ALPHA-1'],
      ['BETA-1'],
      ['ALPHA-1'],
      ['BETA-1'],
    ]);
    expect(stub.prompts.map((prompt) => quoted(prompt, 'summary'))).toEqual([
      null,
      null,
      'of ALPHA-1',
      'of BETA-1',
    ]);
    expect((await sessionOf(service, a)).compact_summary).toBe('of ALPHA-1');
    expect((await sessionOf(service, b)).compact_summary).toBe('of BETA-1');
  });

  it('never see each other when they are compacted at the same time', async () => {
    const { service, stub } = await startWithModel((prompt, index) => ({
      content: `of ${marksIn(prompt).join()}`,
      delayMs: index % 2 === 0 ? 30 : 1,
    }));
    const marks = ['ALPHA-1', 'BETA-1', 'GAMMA-1', 'DELTA-1'];
    const ids: string[] = [];
    for (const mark of marks) ids.push(await service.session(marked(mark)));
    for (let round = 0; round < 2; round += 1) {
      const answers = await Promise.all(ids.map((id) => service.compact(id)));
      expect(answers.map(({ body }) => body.session.compact_summary)).toEqual(
        marks.map((mark) => `of ${mark}`),
      );
    }

    expect(stub.prompts.map((prompt) => marksIn(prompt).length)).toEqual(Array(8).fill(1));
    for (const [index, id] of ids.entries()) {
      const { text } = await service.call('GET', `/sessions/${id}/context`);
      expect(marksIn(text)).toEqual([marks[index]]);
    }
  });
});
