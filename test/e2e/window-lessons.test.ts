import { describe, expect, it } from 'vitest';
import type { ChatMessage } from '../../src/compaction/measure.js';
import { assistant, turns, user } from '../support/messages.js';
import { type ModelStub, OVERFLOW, type StubReply, startModelStub } from '../support/model-stub.js';
import { modelAt, startService, type TestService } from '../support/service.js';

/** An endpoint by how it counts, what it says of it, and what it refuses. */
interface Counting {
  readonly windowTokens: number;
  readonly tokensOf: (prompt: string) => number;
  /** What its refusals name. */
  readonly numbers: 'both' | 'window' | 'none';
  readonly usage: (tokens: number) => readonly [number, number] | null;
  readonly reply?: (prompt: string, tokens: number) => StubReply;
}

const quarters = (prompt: string) => Math.ceil(prompt.length / 4);
/** More tokens than our estimate has. */
const halfBytes = (prompt: string) => Math.ceil(Buffer.byteLength(prompt) / 2);
const honest = (tokens: number) => [tokens, 5] as const;
const placeholder = () => [900, 5] as const;
const none = () => null;

const SENTENCE = '明天早上我们必须把新合同发给所有客户，很高兴认识你。';
const english = () => turns(60, 470);
const chinese = (chars: number): ChatMessage[] =>
  Array.from({ length: 60 }, (_, i) =>
    (i % 2 === 0 ? user : assistant)(`第${i}条${SENTENCE.repeat(20)}`.slice(0, chars)),
  );

function refusal({ windowTokens, numbers }: Counting, tokens: number): StubReply {
  if (numbers === 'none') return OVERFLOW;
  const window = `This model's maximum context length is ${windowTokens} tokens.`;
  const message =
    numbers === 'window' ? window : `${window} However, your messages resulted in ${tokens} tokens.`;
  const error = { message, type: 'invalid_request_error', code: 'context_length_exceeded' };
  return { status: 400, body: { error } };
}

function startCounting(counting: Counting): Promise<ModelStub> {
  const { windowTokens, tokensOf, usage, reply = () => ({ content: 'S' }) } = counting;
  return startModelStub((prompt) => {
    const tokens = tokensOf(prompt);
    return tokens > windowTokens
      ? refusal(counting, tokens)
      : { usage: usage(tokens), ...reply(prompt, tokens) };
  });
}

interface Course {
  readonly status: number;
  readonly newSize: number;
  readonly code: string | undefined;
  readonly requests: number;
  readonly refused: number;
}

/** Compacts a fresh session, all but the last two messages. */
async function course(
  service: TestService,
  stub: ModelStub,
  { windowTokens, tokensOf }: Counting,
  messages: readonly ChatMessage[],
): Promise<Course> {
  const before = stub.prompts.length;
  const id = await service.session(messages);
  const { status, body } = await service.compact(id, { compactCount: 99, keepRecent: 2 });
  const sent = stub.prompts.slice(before);
  const refused = sent.filter((prompt) => tokensOf(prompt) > windowTokens).length;
  return { status, newSize: body.newSize, code: body.code, requests: sent.length, refused };
}

const discovering = (stub: ModelStub, variables = {}) =>
  startService(modelAt(stub.url, { WINDOW_DISCOVERY: 'on', ...variables }));

/** The fewest calls that 58 messages can have in windows of this size, at 5 for each of these. */
const VARIANTS: readonly (readonly [string, Omit<Counting, 'numbers' | 'usage'>, () => ChatMessage[]])[] = [
  ['English, fewer tokens than we estimate', { windowTokens: 2_048, tokensOf: quarters }, english],
  ['English, more tokens than we estimate', { windowTokens: 4_096, tokensOf: halfBytes }, english],
  ['Chinese, a quarter of what we estimate', { windowTokens: 2_048, tokensOf: quarters }, () => chinese(470)],
  ['Chinese, more tokens than we estimate', { windowTokens: 4_096, tokensOf: halfBytes }, () => chinese(150)],
];

describe.each(VARIANTS)('an endpoint whose window nobody tells: %s', (_name, base, messages) => {
  describe.each([
    ['both numbers', 'both', 2],
    ['the window alone', 'window', 4],
    ['no numbers', 'none', 4],
  ] as const)('refusals name %s', (_numbers, numbers, mostRefused) => {
    it.each([
      ['honest', honest],
      ['the same for all', placeholder],
      ['not reported', none],
    ])(
      'and usage is %s: the first compaction finds the size, the next two keep to it',
      async (_usage, usage) => {
        const counting: Counting = { ...base, numbers, usage };
        const stub = await startCounting(counting);
        const service = await discovering(stub);
        const first = await course(service, stub, counting, messages());
        expect(first).toMatchObject({ status: 200, newSize: 58 });
        expect(first.refused).toBeGreaterThan(0);
        expect(first.refused).toBeLessThanOrEqual(mostRefused);
        const later = { status: 200, newSize: 58, requests: 5, refused: 0 };
        expect(await course(service, stub, counting, messages())).toEqual(later);
        expect(await course(service, stub, counting, messages())).toEqual(later);
      },
    );
  });
});

describe('a learned size', () => {
  const counting: Counting = { windowTokens: 2_048, tokensOf: quarters, numbers: 'both', usage: honest };

  it('never is an error: a summary that fills it is folded on, and texts of all kinds follow each other', async () => {
    // As long as it may be, up to half of the window.
    const reply = (prompt: string) => {
      const most = Number(/at most (\d+) characters/.exec(prompt)?.[1]);
      return { content: 'summary '.repeat(500).slice(0, most).trim() };
    };
    const long = { ...counting, reply };
    const stub = await startCounting(long);
    const service = await discovering(stub);
    for (const messages of [english(), chinese(470), english(), turns(4, 3_000), chinese(470), english()]) {
      const { code, newSize } = await course(service, stub, long, messages);
      expect([code, newSize]).toEqual([undefined, messages.length - 2]);
    }
  });

  it('is made smaller when the reply has no room left beside it', async () => {
    // The window holds prompt and reply, as in most servers; a reply that hits its end breaks off.
    const replyTokens = 400;
    const shared: Counting = {
      ...counting,
      reply: (_prompt, tokens) =>
        tokens + replyTokens > counting.windowTokens
          ? { content: 'half', finish: 'length' }
          : { content: 'S'.repeat(replyTokens * 4) },
    };
    const stub = await startCounting(shared);
    const service = await discovering(stub);
    const first = await course(service, stub, shared, english());
    expect(first).toMatchObject({ status: 200, newSize: 58 });
    const before = stub.prompts.length;
    expect(await course(service, stub, shared, english())).toMatchObject({ status: 200, refused: 0 });
    const sizes = stub.prompts.slice(before).map(quarters);
    expect(Math.max(...sizes)).toBeLessThanOrEqual(counting.windowTokens - replyTokens);
  });

  it('holds below a window that the endpoint told and does not keep', async () => {
    const dense: Counting = { windowTokens: 4_096, tokensOf: halfBytes, numbers: 'none', usage: honest };
    const stub = await startCounting(dense);
    const service = await discovering(stub, { COMPACT_WINDOW_TOKENS: '6000' });
    const first = await course(service, stub, dense, english());
    expect(first.refused).toBeGreaterThan(0);
    expect(await course(service, stub, dense, english())).toMatchObject({ status: 200, refused: 0 });
  });

  it('ends nothing for ever: a model that then refuses everything is told so after a few requests', async () => {
    let isBroken = false;
    const stub = await startModelStub((prompt) =>
      isBroken || quarters(prompt) > 2_048 ? OVERFLOW : { content: 'S' },
    );
    const service = await discovering(stub);
    expect((await course(service, stub, counting, english())).status).toBe(200);
    isBroken = true;
    const before = stub.prompts.length;
    const { body } = await service.compact(await service.session(english()), { compactCount: 99 });
    expect(body.code).toBe('CONTEXT_OVERFLOW');
    expect(stub.prompts.length - before).toBeLessThanOrEqual(8);
    isBroken = false;
    expect(await course(service, stub, counting, english())).toMatchObject({ status: 200, newSize: 58 });
  });

  it.each([
    ['below any prompt', 50, [8, 4, 4, 4]],
    ['that looks true', 2_000, [21, 16, 6, 6]],
  ])(
    'of one wrong refusal, with a window %s, costs a bounded number of calls',
    async (_name, window, most) => {
      let isFirst = true;
      const stub = await startModelStub(() => {
        if (!isFirst) return { content: 'S' };
        isFirst = false;
        const message = `maximum context length is ${window} tokens. However, you requested 20000 tokens`;
        return { status: 400, body: { error: { message } } };
      });
      const service = await discovering(stub);
      for (const limit of most) {
        const { status, requests } = await course(service, stub, counting, turns(40, 1_500));
        expect(status).toBe(200);
        expect(requests).toBeLessThanOrEqual(limit);
      }
    },
  );

  it('of one endpoint does not undo what the refusals of its fallback say', async () => {
    const down = await startModelStub(() => ({ status: 503, body: { error: { message: 'down' } } }));
    const stub = await startCounting(counting);
    const service = await startService({
      OPENAI_BASE_URL: stub.url,
      MAIN_MODEL: 'main-1',
      MAIN_RETRIES: '0',
      COMPACT_BASE_URL: down.url,
      COMPACT_MODEL: 'compact-1',
      COMPACT_RETRIES: '0',
      COMPACT_FALLBACK: 'main',
      WINDOW_DISCOVERY: 'on',
    });
    const { status, refused } = await course(service, stub, counting, english());
    expect([status, refused]).toEqual([200, 1]);
  });
});
