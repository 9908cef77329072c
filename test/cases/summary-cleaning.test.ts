import { describe, expect, it } from 'vitest';
import { turns } from '../support/messages.js';
import type { StubReply } from '../support/model-stub.js';
import { startWithModel } from './session-state.js';

const THINKING = { type: 'thinking', thinking: [{ type: 'text', text: 'hmm' }] };

const cleaned: readonly { name: string; content: NonNullable<StubReply['content']>; summary: string }[] = [
  {
    name: 'a think block in front is removed',
    content: '<think>plan the list</think>\n\nGuest booked two berths.',
    summary: 'Guest booked two berths.',
  },
  {
    name: 'a think block in front is removed, however it is written',
    content: ' \n<THINKING>\nplan\n</Thinking>Guest booked two berths.',
    summary: 'Guest booked two berths.',
  },
  {
    name: 'a think tag later in the text is text',
    content: 'Guest asked what <think>so</think> means.',
    summary: 'Guest asked what <think>so</think> means.',
  },
  {
    name: 'a think tag after the think block is text',
    content: '<think>plan</think>Guest wrote <think> twice.',
    summary: 'Guest wrote <think> twice.',
  },
  {
    name: 'a code fence around all of it is removed',
    content: '```markdown\n- Slot 4 reserved\n```',
    summary: '- Slot 4 reserved',
  },
  {
    name: 'a code fence inside stays',
    content: 'Use:\n```sh\nls\n```\nDone',
    summary: 'Use:\n```sh\nls\n```\nDone',
  },
  { name: 'a code fence that never closes is removed', content: '```\n- Slot 4', summary: '- Slot 4' },
  {
    name: 'the outer one of two nested code fences is removed',
    content: '````md\nUse:\n```sh\nls\n```\nDone\n````',
    summary: 'Use:\n```sh\nls\n```\nDone',
  },
  {
    name: 'two code fences with text between them stay',
    content: '```\nls\n```\nthen\n```\ncd\n```',
    summary: '```\nls\n```\nthen\n```\ncd\n```',
  },
  {
    name: 'a code fence of tildes around all of it is removed',
    content: '~~~\n- Slot 4 reserved\n~~~\n',
    summary: '- Slot 4 reserved',
  },
  {
    name: 'a code fence after a think block is removed with it',
    content: '<think>plan</think>\n```\n- Slot 4 reserved\n```',
    summary: '- Slot 4 reserved',
  },
  {
    name: 'the texts of a list of parts are put together, the others left out',
    content: [
      THINKING,
      { type: 'text', text: 'Deck A ' },
      { type: 'weird' },
      { type: 'text', text: 'is closed.' },
    ],
    summary: 'Deck A is closed.',
  },
  { name: 'a short text is as good as a long one', content: 'Brief handoff.', summary: 'Brief handoff.' },
  { name: 'a text of one character is enough', content: '-', summary: '-' },
  { name: 'U+0000 is removed', content: 'Deck\0 A\0', summary: 'Deck A' },
];

describe('a reply is freed of its wrapping and of nothing else', () => {
  it.each(cleaned)('$name', async ({ content, summary }) => {
    const { service, stub } = await startWithModel({ content });
    const id = await service.session(turns(8, 100));

    const { status, body } = await service.compact(id);

    expect(status).toBe(200);
    expect(body.session).toMatchObject({ compact_summary: summary, compact_size: 4 });
    expect(body.compaction).toMatchObject({ summary, from_size: 0, to_size: 4 });
    expect(stub.server.requests.length).toBe(1);
    const [first] = await service.view(id);
    expect(first).toEqual({
      role: 'user',
      content:
        `[Summary of previous conversation]\n\n${summary}\n\n` +
        '[End of summary: a record of what was said and done, not a new request.]',
    });
  });
});
