import { describe, expect, it } from 'vitest';
import { turns } from '../support/messages.js';
import type { StubReply } from '../support/model-stub.js';
import {
  compactedSession,
  expectUnharmed,
  lastCompaction,
  startWithModel,
  stateOf,
} from './session-state.js';

const CAP = { COMPACT_MAX_OUTPUT_TOKENS: '500' };
const refusal = { message: { refusal: 'I will not summarize this.' } };
const call = { id: 'c1', type: 'function', function: { name: 'save', arguments: '{"summary":"S1"}' } };

interface Unusable {
  readonly name: string;
  readonly reply: StubReply;
  readonly status: number;
  readonly code: string;
  readonly detail: string;
}

const EMPTY = { status: 500, code: 'EMPTY_SUMMARY', detail: 'LLM returned an empty summary' };
const CUT = {
  status: 502,
  code: 'SUMMARY_TRUNCATED',
  detail: 'The summary was cut off by the output limit of the model',
};
const REFUSED = {
  status: 502,
  code: 'SUMMARY_REFUSED',
  detail: 'No summary was written: the model refused',
};
const FILTERED = { ...REFUSED, detail: 'No summary was written: the content filter stopped it' };

const unusable: readonly Unusable[] = [
  { name: 'an empty text', reply: { content: '' }, ...EMPTY },
  { name: 'only white space', reply: { content: '  \n' }, ...EMPTY },
  { name: 'no text at all', reply: { content: null }, ...EMPTY },
  { name: 'an empty list of parts', reply: { content: [] }, ...EMPTY },
  { name: 'parts without any text', reply: { content: [{ type: 'weird' }] }, ...EMPTY },
  { name: 'only U+0000', reply: { content: '\0\0' }, ...EMPTY },
  { name: 'a think block that never closes', reply: { content: '<think>plan the list\nand' }, ...EMPTY },
  { name: 'only a think block', reply: { content: '<think>plan</think>\n' }, ...EMPTY },
  { name: 'an empty code fence', reply: { content: '```\n\n```' }, ...EMPTY },
  { name: 'reasoning and no text', reply: { content: '', message: { reasoning: 'plan' } }, ...EMPTY },
  {
    name: 'a tool call finish without text',
    reply: { content: null, finish: 'tool_calls' },
    ...EMPTY,
  },
  {
    name: 'a tool call, whatever text comes with it',
    reply: { content: 'Saving the summary.', message: { tool_calls: [call] }, finish: 'stop' },
    ...EMPTY,
  },
  {
    name: 'a text cut by the output limit',
    reply: { content: 'The ferry leaves at ni', finish: 'length' },
    ...CUT,
  },
  { name: 'a cut before any text', reply: { content: '', finish: 'length' }, ...CUT },
  {
    name: 'a text cut where a vendor calls it max_tokens',
    reply: { content: 'The ferry leaves at ni', finish: 'max_tokens' },
    ...CUT,
  },
  { name: 'a refusal', reply: { content: null, ...refusal }, ...REFUSED },
  { name: 'a refusal beside text', reply: { content: 'Sorry.', ...refusal }, ...REFUSED },
  { name: 'a filter stop', reply: { content: '', finish: 'content_filter' }, ...FILTERED },
  {
    name: 'a filter stop in the middle of a text',
    reply: { content: 'The guest wants', finish: 'content_filter' },
    ...FILTERED,
  },
];

describe('a reply that is no summary fails the compaction and leaves the session as it was', () => {
  it.each(unusable)('$name', async ({ reply, status, code, detail }) => {
    const harness = await startWithModel(reply, { COMPACT_RETRIES: '2' });
    const { service, stub } = harness;
    const id = await compactedSession(service, turns(10, 100), { summary: 'S0', size: 2 });
    const before = stateOf(service, id);

    const answer = await service.compact(id);

    expect({ status: answer.status, code: answer.body.code, detail: answer.body.detail }).toEqual({
      status,
      code,
      detail,
    });
    expect(stub.server.requests.length).toBe(1);
    const record = await lastCompaction(service, id);
    expect(record).toMatchObject({
      outcome: 'failed',
      error_code: code,
      error_detail: detail,
      from_size: 2,
      to_size: 2,
      summary: null,
      requests: 1,
      usage: { input_tokens: 100, output_tokens: 10 },
    });
    expect(answer.body.compaction).toEqual({ id: record.id, from_size: 2, to_size: 2, outcome: 'failed' });
    expect((await service.call('GET', `/sessions/${id}`)).body).toMatchObject({
      compact_summary: 'S0',
      compact_size: 2,
    });
    await expectUnharmed(harness, id, before);
  });
});

describe('a configured output cap', () => {
  const cut: StubReply = { content: 'The ferry leaves at ni', finish: 'length' };

  it.each([
    { name: 'a cut reply', reply: cut, code: 'SUMMARY_TRUNCATED' },
    { name: 'an empty reply', reply: { content: '' }, code: 'EMPTY_SUMMARY' },
  ])('is raised once after $name, and no more', async ({ reply, code }) => {
    const harness = await startWithModel(reply, CAP);
    const { service, stub } = harness;
    const id = await compactedSession(service, turns(10, 100), { summary: 'S0', size: 2 });
    const before = stateOf(service, id);

    const answer = await service.compact(id);

    expect(answer.body.code).toBe(code);
    expect(stub.bodies.map(({ max_tokens }) => max_tokens)).toEqual([500, 1000]);
    expect(stub.prompts[1]).toBe(stub.prompts[0]);
    expect(await lastCompaction(service, id)).toMatchObject({
      requests: 2,
      usage: { input_tokens: 200, output_tokens: 20 },
    });
    await expectUnharmed(harness, id, before);
  });

  it('that was too low costs one request more, and the whole reply is stored', async () => {
    const { service, stub } = await startWithModel(
      (_prompt, index) => (index === 0 ? cut : { content: 'The ferry leaves at nine.' }),
      CAP,
    );
    const id = await service.session(turns(4, 100));
    const { status, body } = await service.compact(id);
    expect(status).toBe(200);
    expect(body.session.compact_summary).toBe('The ferry leaves at nine.');
    expect(body.compaction.usage).toEqual({ input_tokens: 200, output_tokens: 20 });
    expect(stub.bodies.length).toBe(2);
  });

  it.each([
    { name: 'a refusal', reply: { content: null, ...refusal } },
    { name: 'a filter stop', reply: { content: '', finish: 'content_filter' } },
  ])('is not raised after $name', async ({ reply }) => {
    const { service, stub } = await startWithModel(reply, CAP);
    const id = await service.session(turns(4, 100));
    expect((await service.compact(id)).body.code).toBe('SUMMARY_REFUSED');
    expect(stub.bodies.map(({ max_tokens }) => max_tokens)).toEqual([500]);
  });
});

it('a refusal in plain words is stored, and the answer shows it', async () => {
  const text = "I can't produce this summary as requested.";
  const { service } = await startWithModel({ content: text });
  const id = await service.session(turns(4, 100));
  const { status, body } = await service.compact(id);
  expect(status).toBe(200);
  expect(body.session.compact_summary).toBe(text);
  expect(body.compaction).toMatchObject({ summary: text, from_size: 0, to_size: 2, outcome: 'completed' });
});
