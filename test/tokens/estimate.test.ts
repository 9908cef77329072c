import fc from 'fast-check';
import { beforeAll, describe, expect, it } from 'vitest';
import type { ChatMessage } from '../../src/compaction/measure.js';
import {
  createTokenEstimator,
  LIST_TOKENS,
  MEDIA_TOKENS,
  MESSAGE_TOKENS,
  TOOL_CALL_TOKENS,
  type TokenEstimator,
} from '../../src/tokens/estimate.js';
import { SAMPLES } from './samples.js';

let estimator: TokenEstimator;

beforeAll(async () => {
  estimator = await createTokenEstimator();
});

/** Without what a list adds. */
const one = (message: ChatMessage) => estimator.ofMessages([message]) - LIST_TOKENS;

describe('messages', () => {
  it('count their text, and what a template puts around them', () => {
    const hello: ChatMessage = { role: 'user', content: 'Hello, world!' };
    expect(estimator.ofMessages([])).toBe(0);
    expect(estimator.ofMessages([hello])).toBe(11);
    expect(estimator.ofMessages([hello, hello])).toBe(19);
  });

  it('count names, refusals and text parts', () => {
    expect(one({ role: 'user', name: 'Ada', content: 'Hello, world!' })).toBe(
      MESSAGE_TOKENS + 4 + estimator.ofText('Ada'),
    );
    expect(one({ role: 'assistant', content: null, refusal: 'Hello, world!' })).toBe(MESSAGE_TOKENS + 4);
    const parts = [
      { type: 'text', text: 'Hello, world!' },
      { type: 'refusal', refusal: 'Hello, world!' },
    ];
    expect(one({ role: 'assistant', content: parts })).toBe(MESSAGE_TOKENS + 8);
  });

  it('count the names and arguments of tool calls', () => {
    const call = { id: 'call_1', type: 'function', function: { name: 'find', arguments: '{"a":[1,2,3]}' } };
    expect(one({ role: 'assistant', content: null, tool_calls: [call, call] })).toBe(
      MESSAGE_TOKENS + 2 * (TOOL_CALL_TOKENS + estimator.ofText('find') + 9),
    );
    expect(one({ role: 'assistant', tool_calls: [{}] })).toBe(MESSAGE_TOKENS + TOOL_CALL_TOKENS);
  });

  it('count the same for every image, audio and file', () => {
    const url = `data:image/png;base64,${SAMPLES['base64']}`;
    const media = [
      { type: 'image_url', image_url: { url } },
      { type: 'input_audio', input_audio: { data: SAMPLES['base64'], format: 'wav' } },
      { type: 'file', file: { file_id: 'file_1' } },
    ];
    expect(one({ role: 'user', content: media })).toBe(MESSAGE_TOKENS + 3 * MEDIA_TOKENS);
  });
});

it('counts tools as JSON', () => {
  const tool = { type: 'function', function: { name: 'find', parameters: { type: 'object' } } };
  expect(estimator.ofTools([])).toBe(0);
  expect(estimator.ofTools([tool, tool])).toBe(2 * estimator.ofText(JSON.stringify(tool)));
});

describe('any text', () => {
  const text = fc.oneof(
    fc.string({ unit: 'binary', maxLength: 300 }),
    fc.string({ unit: fc.integer({ min: 0, max: 0xffff }).map((unit) => String.fromCharCode(unit)) }),
    fc
      .constantFrom(...Object.values(SAMPLES))
      .chain((sample) =>
        fc
          .tuple(fc.nat(sample.length), fc.nat(300))
          .map(([start, length]) => sample.slice(start, start + length)),
      ),
  );

  it('has at most as many tokens as bytes, and some if it has any', () => {
    fc.assert(
      fc.property(text, (given) => {
        const tokens = estimator.ofText(given);
        expect(Number.isInteger(tokens)).toBe(true);
        expect(tokens).toBeLessThanOrEqual(Buffer.byteLength(given));
        expect(tokens > 0).toBe(given !== '');
      }),
    );
  });

  it('has hardly more tokens in one piece than in two', () => {
    fc.assert(
      fc.property(text, text, (a, b) => {
        expect(estimator.ofText(a + b)).toBeLessThanOrEqual(estimator.ofText(a) + estimator.ofText(b) + 5);
      }),
    );
  });

  it('counts the same a second time, and more with each message', () => {
    fc.assert(
      fc.property(fc.array(text, { maxLength: 8 }), (texts) => {
        const messages = texts.map((content): ChatMessage => ({ role: 'user', content }));
        const counts = [...messages.keys(), messages.length].map((n) =>
          estimator.ofMessages(messages.slice(0, n)),
        );
        expect(counts).toEqual(counts.toSorted((a, b) => a - b));
        expect(new Set(counts).size).toBe(counts.length);
        expect(estimator.ofMessages(messages)).toBe(counts.at(-1));
      }),
    );
  });
});
