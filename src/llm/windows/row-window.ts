import { type JsonRecord, member } from '../narrow.js';
import { smallest, windowIn } from './token-count.js';

/** A window with the place where it was read. */
export interface FoundWindow {
  readonly tokens: number;
  /** For people, e.g. `/v1/models, max_model_len`. */
  readonly where: string;
}

/**
 * Where servers put the window into a row of their list of models, the surest first. What the model could do if it
 * were loaded so (`n_ctx_train`) is no window.
 */
const FIELDS: readonly (readonly string[])[] = [
  ['max_model_len'],
  ['meta', 'n_ctx'],
  ['context_length'],
  ['context_window'],
  ['max_context_length'],
  ['max_input_tokens'],
  ['model_info', 'max_input_tokens'],
];
const LIMITS: readonly string[] = [
  'max_context_window_tokens',
  'max_context_length',
  'max_input_tokens',
  'max_prompt_tokens',
  'context_length',
  'context_window',
  'context',
  'input',
];

/**
 * The window that a row names. OpenRouter names one for the model and one for the provider that it would take
 * first; the smaller one holds, and likewise the smallest of several limits.
 */
export function windowInRow(row: JsonRecord, list: string): FoundWindow | null {
  const at = (path: readonly string[]): FoundWindow | null => {
    const tokens = windowIn(path.reduce(member, row));
    return tokens === null ? null : { tokens, where: `${list}, ${path.join('.')}` };
  };
  const named = FIELDS.map(at).find((found) => found !== null) ?? null;
  const found = smallest([named, at(['top_provider', 'context_length'])]);
  if (found !== null) return found;
  const limits = [['limits'], ['capabilities', 'limits']];
  return smallest(limits.flatMap((path) => LIMITS.map((name) => at([...path, name]))));
}
