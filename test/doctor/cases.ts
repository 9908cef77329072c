import { ANSWERS, HANGS } from './cases-answers.js';
import { BAD_KEYS, MODELS } from './cases-refused.js';
import { SUMMARIES, WINDOWS } from './cases-summaries.js';
import type { Case } from './rows.js';

/** Every endpoint that the doctor is shown. */
export const CASES: readonly Case[] = [
  ...BAD_KEYS,
  ...MODELS,
  ...ANSWERS,
  ...SUMMARIES,
  ...WINDOWS,
  ...HANGS,
];
