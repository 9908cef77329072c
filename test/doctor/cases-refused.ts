import { expect } from 'vitest';
import { json, KEY, listOf, MODEL, refusal } from './harness.js';
import { type Case, CORRECT_KEY, NO_CHAT, ok, UNKNOWN_MODEL, UNNAMED_WINDOW } from './rows.js';

const ECHOED_KEY = refusal(401, `Incorrect API key provided: ${KEY}.`);

export const BAD_KEYS: readonly Case[] = [
  {
    name: 'a wrong key, which is echoed',
    endpoint: { models: ECHOED_KEY, chat: ECHOED_KEY },
    rows: {
      ...NO_CHAT,
      reachable: ok('GET models: 401 in TIME'),
      key: [
        'failed',
        'The model endpoint answered 401: Incorrect API key provided: [REDACTED].',
        CORRECT_KEY,
      ],
      model: UNKNOWN_MODEL,
      window: [
        'warn',
        'not known: the endpoint does not name it',
        'Set MAIN_WINDOW_TOKENS. Until then a call takes 60,000 chars of transcript, and what is too long shows only if the server refuses it',
      ],
    },
    code: 1,
  },
  {
    name: 'a list for anyone and a wrong key',
    endpoint: { chat: refusal(403, 'Forbidden') },
    rows: { ...NO_CHAT, key: ['failed', 'The model endpoint answered 403: Forbidden', CORRECT_KEY] },
    code: 1,
  },
  {
    name: 'no key where none is asked for',
    env: { OPENAI_API_KEY: '' },
    rows: { key: ok('none is sent, and none is asked for') },
    code: 0,
  },
  {
    name: 'no key where one is asked for',
    endpoint: { chat: refusal(401, 'Missing key') },
    env: { OPENAI_API_KEY: '' },
    rows: {
      ...NO_CHAT,
      key: ['failed', 'The model endpoint answered 401: Missing key', 'Set OPENAI_API_KEY; no key was sent'],
    },
    code: 1,
  },
];

export const MODELS: readonly Case[] = [
  {
    name: 'a model that is not there',
    endpoint: {
      models: listOf({ id: 'gpt-5' }, { id: 'small-models' }, { id: 'small' }, { id: 'smart' }),
      chat: refusal(404, `The model ${MODEL} does not exist`),
    },
    rows: {
      ...NO_CHAT,
      model: [
        'failed',
        expect.stringMatching(
          // The address is longer than the column.
          /^The model endpoint answered 404 for http:\S+ ?\S+: The model small-model does not exist$/,
        ),
        'Set MAIN_MODEL to one that is there, such as small-models, small, smart',
      ],
      window: [
        'warn',
        'not known: the endpoint does not name it',
        expect.stringMatching(/^Set MAIN_WINDOW_TOKENS\./),
      ],
    },
    code: 1,
  },
  {
    name: 'a model that answers without being listed',
    endpoint: { models: listOf({ id: 'unlike' }) },
    rows: {
      model: [
        'warn',
        `${MODEL} answers, but is not among 1 listed model`,
        'Look whether the server ignores the name and answers with another model',
      ],
      window: UNNAMED_WINDOW,
    },
    code: 0,
  },
  {
    name: 'no list at all',
    endpoint: {
      models: { status: 404 },
      others: { 'GET /props': json({ default_generation_settings: { n_ctx: 4_096 } }) },
    },
    rows: {
      reachable: ok('GET models: 404 in TIME'),
      model: ok(`${MODEL} answers; there is no list of models`),
      window: ok('4,096 tokens, served (/props, n_ctx)'),
    },
    code: 0,
  },
];
