import { expect, it } from 'vitest';
import { withFallback } from '../../src/compaction/fallback-summarizer.js';
import { guarded } from '../../src/compaction/guarded-summarizer.js';
import { createModelSummarizer } from '../../src/compaction/model-summarizer.js';
import { CircuitBreaker } from '../../src/llm/circuit-breaker.js';
import { clientFor, endpoint } from '../llm/harness.js';
import { type StubReply, startModelStub } from '../support/model-stub.js';

const DOWN: StubReply = { status: 503, body: '{}' };
const logger = { info: () => {}, warn: () => {}, error: () => {} };

it('an endpoint that is handed over from is no verdict on both: automatic work gets through to the fallback', async () => {
  let isMainUp = false;
  const compact = await startModelStub(() => DOWN);
  const main = await startModelStub(() => (isMainUp ? { content: 'M' } : DOWN));
  const summarizer = (url: string, windowTokens: number) => {
    const at = endpoint(url, { windowTokens });
    return createModelSummarizer(
      { endpoint: at, client: clientFor(url), windows: null, chunkChars: 60_000, logger },
      at.model,
    );
  };
  let now = 0;
  const breaker = new CircuitBreaker({ failures: 1, openMs: 1_000, clock: () => now });
  const both = withFallback(summarizer(compact.url, 100_000), summarizer(main.url, 8_000), logger);
  const { signal } = new AbortController();
  const request = {
    previousSummary: null,
    transcript: '[user]\nHello',
    instructions: null,
    maxChars: 1_000,
    lastReplyChars: null,
    maxOutputTokens: null,
    signal,
  };
  const asked = async () => {
    const ready = await guarded(both, breaker, 'automatic').ready(signal);
    const first = await ready.summarize(request);
    const windows = 'windowTokens' in ready.budget ? ready.budget.windowTokens : null;
    const second = await ready.summarize(request);
    return [first.isHandedOver, windows, second.outcome.kind, second.answeredBy];
  };
  expect(await asked()).toEqual([true, 8_000, 'unavailable', 'test-model']);
  expect(breaker.state).toBe('open');
  now = 1_000;
  isMainUp = true;
  expect(await asked()).toEqual([true, 8_000, 'ok', 'test-model']);
  expect([breaker.state, compact.prompts.length, main.prompts.length]).toEqual(['closed', 2, 2]);
});
