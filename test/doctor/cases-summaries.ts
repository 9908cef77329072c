import { expect } from 'vitest';
import { type Endpoint, GOOD_SUMMARY, listOf, MODEL, stream } from './harness.js';
import { type Case, ok } from './rows.js';

const badSummary = (name: string, summary: Endpoint['summary'], seen: string, advice: string): Case => ({
  name,
  endpoint: summary === undefined ? {} : { summary },
  rows: { summary: ['failed', seen, advice] },
  code: 1,
});
export const SUMMARIES: readonly Case[] = [
  badSummary(
    'an empty summary',
    stream('<think>What should I write?</think>'),
    'rejected: the summary is empty',
    'The reply may be all reasoning, or the prompt given back: use another model',
  ),
  badSummary(
    'a cut summary',
    stream(GOOD_SUMMARY, { finish: 'length' }),
    'rejected: cut off by the output limit',
    "Raise the server's own limit for replies",
  ),
  badSummary(
    'a summary that is longer than what it replaces',
    stream('word '.repeat(500)),
    'rejected: 2,499 chars for two short messages',
    'Use a model that follows instructions better',
  ),
  {
    name: 'a summary that lost what matters',
    endpoint: { summary: stream('They talked about dinner.') },
    rows: {
      summary: [
        'warn',
        'accepted: 25 chars in TIME, but without the number HB-20417 of the conversation',
        'Summaries of this model lose facts: a stronger one keeps identifiers word for word',
      ],
    },
    code: 0,
  },
];

export const WINDOWS: readonly Case[] = [
  {
    name: 'a window that is too small',
    endpoint: { models: listOf({ id: MODEL, max_model_len: 1_024 }, { id: 'other-model' }) },
    rows: {
      window: [
        'failed',
        '1,024 tokens, served (/v1/models, max_model_len)',
        'Too small for summaries: load the model with a larger window, or use another one',
      ],
    },
    code: 1,
  },
  {
    name: 'a configured window above the served one',
    env: { MAIN_WINDOW_TOKENS: '128000' },
    rows: {
      window: [
        'warn',
        '128,000 tokens, configured; the endpoint says 32,768 (/v1/models, max_model_len)',
        'Load the model with a window of 128,000, or set MAIN_WINDOW_TOKENS=32768',
      ],
    },
    code: 0,
  },
  {
    name: 'a configured window below the served one',
    env: { MAIN_WINDOW_TOKENS: '16000' },
    rows: { window: ok('16,000 tokens, configured') },
    code: 0,
  },
  {
    name: 'windows that are not to be asked for',
    env: { WINDOW_DISCOVERY: 'off' },
    rows: {
      window: [
        'warn',
        'not known: WINDOW_DISCOVERY is off; the endpoint says 32,768 (/v1/models, max_model_len)',
        expect.any(String),
      ],
    },
    code: 0,
  },
];
