import { expect } from 'vitest';
import { type Endpoint, GOOD_SUMMARY, MODEL, type Row, type Rows } from './harness.js';

export const GOOD_ROWS: Rows = {
  reachable: ['ok', 'GET models: 200 in TIME', ''],
  key: ['ok', 'accepted', ''],
  model: ['ok', `${MODEL} is one of 2 listed models`, ''],
  streams: ['ok', '4 events in TIME', ''],
  usage: ['ok', '312 tokens in, 21 out', ''],
  window: ['ok', '32,768 tokens, served (/v1/models, max_model_len)', ''],
  summary: ['ok', `accepted: ${GOOD_SUMMARY.length} chars in TIME`, ''],
};

export const skipped = (why: string): Row => ['skipped', why, ''];
export const ok = (seen: string): Row => ['ok', seen, ''];
/** The same row for several checks. */
export const each = (checks: readonly string[], row: Row): Rows =>
  Object.fromEntries(checks.map((check) => [check, row]));

/** Every row but the first, of an endpoint that is not reached. */
export const UNREACHED_ROWS = each(Object.keys(GOOD_ROWS).slice(1), skipped('the endpoint is not reached'));
export const NO_CHAT = each(['streams', 'usage', 'summary'], skipped('no chat was answered'));
export const UNKNOWN_KEY: Row = ['warn', 'not known: no chat was answered', 'See the rows below'];
export const UNKNOWN_MODEL = skipped('not known: no chat was answered');
export const NO_SUMMARY = skipped('no summary was answered');
export const UNNAMED_WINDOW: Row = ['warn', 'not known: the endpoint does not name it', expect.any(String)];
export const CORRECT_KEY = 'Correct OPENAI_API_KEY: it may be of another vendor or project, or revoked';
export const EXHAUSTED: Row = [
  'failed',
  'The model endpoint answered 429: You exceeded your current quota',
  'Add credit or raise the quota at the vendor, or use another endpoint',
];
export const NO_API: Row = [
  'failed',
  'The answer of the model endpoint is no chat completion: Welcome',
  'Look whether OPENAI_BASE_URL leads to an OpenAI-compatible API (often it ends in /v1)',
];
export const SLOW_LOAD = 'Local models may load for a minute: run this again with --timeout 120';

/** One endpoint, and what the doctor says about it. */
export interface Case {
  readonly name: string;
  readonly endpoint?: Endpoint;
  readonly env?: Readonly<Record<string, string>>;
  readonly args?: readonly string[];
  /** The rows that differ from those of a good endpoint. */
  readonly rows: Rows;
  readonly code: 0 | 1;
  /** How many requests were sent, where that matters. */
  readonly requests?: number;
  /** What the output says beside its rows. */
  readonly says?: RegExp;
}
