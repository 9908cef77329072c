import { describe, expect, test } from 'vitest';
import { ReplyAccumulator } from '../../src/llm/reply-accumulator.js';
import { rawStreamHead } from '../support/raw-server.js';
import { ask, clientFor, completed, delta, events, finish, serve } from './harness.js';

const chunk = (part: Record<string, unknown>, more: Record<string, unknown> = {}) => ({
  choices: [{ index: 0, delta: part, ...more }],
});
const call = (entry: Record<string, unknown>) =>
  chunk({ tool_calls: [{ index: 0, type: 'function', ...entry }] });
const usage = { choices: [], usage: { prompt_tokens: 5, completion_tokens: 1 } };

describe('life', () => {
  test.each<[string, unknown]>([
    ['text', chunk({ content: 'x' })],
    ['a blank, which is text', chunk({ content: ' ' })],
    ['a text part', chunk({ content: [{ type: 'text', text: 'x' }] })],
    ['a thinking part', chunk({ content: [{ type: 'thinking', thinking: [{ type: 'text', text: 'x' }] }] })],
    ['reasoning', chunk({ reasoning_content: 'x', content: null })],
    [
      'reasoning that cannot be read',
      chunk({ reasoning_details: [{ type: 'reasoning.encrypted', data: 'x' }] }),
    ],
    ['a refusal', chunk({ refusal: 'No' })],
    ['the name of a call', call({ id: 'c', function: { name: 'f', arguments: '' } })],
    ['arguments', call({ function: { arguments: '{' } })],
    ['a call in the old form', chunk({ function_call: { name: 'f' } })],
    ['a finish reason', chunk({}, { finish_reason: 'stop' })],
    ['a whole message', { choices: [{ message: { content: 'x' } }] }],
  ])('is %s', (_name, document) => {
    expect(new ReplyAccumulator().add(document)).toBe(true);
  });

  test.each<[string, unknown]>([
    ['an empty delta', chunk({})],
    ['a role', chunk({ role: 'assistant', content: '' })],
    ['nothing', chunk({ content: null, refusal: null, tool_calls: null, reasoning: '' })],
    ['empty lists', chunk({ content: [], tool_calls: [{}], reasoning_details: [] })],
    ['a call with no piece', call({ function: { arguments: '' } })],
    ['an empty text part', chunk({ content: [{ type: 'text', text: '' }] })],
    ['usage', usage],
    ['usage in a choice', chunk({}, { usage: { prompt_tokens: 5 } })],
    ['another choice', { choices: [{ index: 1, delta: { content: 'x' } }] }],
    ['no choice', {}],
  ])('is not %s', (_name, document) => {
    expect(new ReplyAccumulator().add(document)).toBe(false);
  });

  test('is a finish reason once', () => {
    const reply = new ReplyAccumulator();
    const finished = chunk({}, { finish_reason: 'stop' });
    expect([reply.add(finished), reply.add(finished)]).toEqual([true, false]);
  });

  test('is found in nothing, however deep', () => {
    const deep = JSON.parse(`${'['.repeat(5_000)}"x"${']'.repeat(5_000)}`);
    expect(new ReplyAccumulator().add(chunk({ content: deep }))).toBe(false);
  });
});

describe('what is sent for ever', () => {
  const LIMITS = { firstByteTimeoutMs: 200, silenceTimeoutMs: 200, totalTimeoutMs: 2_000 };
  const drip = (first: string, again: unknown) =>
    serve(async (connection) => {
      connection.write(rawStreamHead() + first);
      while (!connection.isClosed) {
        await connection.pause(40);
        connection.write(events(JSON.stringify(again)));
      }
    });

  test.each<[string, unknown]>([
    ['empty deltas', chunk({})],
    ['roles', chunk({ role: 'assistant', content: '' })],
    ['usage', usage],
    ['empty objects', {}],
  ])('%s do not end the wait for the first part, nor the silence after it', async (_name, again) => {
    const first = await ask(clientFor((await drip('', again)).url, LIMITS));
    expect(first.outcome).toMatchObject({ kind: 'timeout', clock: 'first_byte' });
    const later = await ask(clientFor((await drip(events(delta('x')), again)).url, LIMITS));
    expect(later.outcome).toMatchObject({ kind: 'timeout', clock: 'silence' });
  });

  test.each<[string, unknown]>([
    ['usage', usage],
    ['the finish reason', chunk({}, { finish_reason: 'stop' })],
  ])('%s does not keep a finished reply back', async (_name, again) => {
    const start = performance.now();
    const { url } = await drip(events(delta('Hello'), finish()), again);
    expect((await ask(clientFor(url, LIMITS))).outcome).toEqual(completed('Hello'));
    expect(performance.now() - start).toBeLessThan(1_000);
  });
});
