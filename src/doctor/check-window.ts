import { count, counted } from '../cli/number-text.js';
import type { FoundWindow } from '../llm/windows/row-window.js';
import { type CheckResult, failed, ok, warn } from './check.js';
import type { Role } from './role.js';

export interface WindowFacts {
  /** What the endpoint says; null when it says nothing. */
  readonly served: FoundWindow | null;
  /** Whether the service asks for windows; else only a configured one counts. */
  readonly isAskedFor: boolean;
  /** Whether the window leaves too little room for text beside prompt, summary and reply. */
  readonly isTooSmall: boolean;
  /** Transcript per call while no window is known, in chars. */
  readonly chunkChars: number;
}

/** Which context window counts, and where it is from. */
export function checkWindow(
  { endpoint, settings }: Role,
  { served, isAskedFor, isTooSmall, chunkChars }: WindowFacts,
): CheckResult {
  const configured = endpoint.windowTokens;
  const tokens = configured ?? (isAskedFor ? served?.tokens : null) ?? null;
  if (tokens === null) {
    return warn(
      served === null
        ? 'not known: the endpoint does not name it'
        : `not known: WINDOW_DISCOVERY is off; the endpoint says ${sizeOf(served)}`,
      `Set ${settings.windowTokens}. Until then a call takes ${counted(chunkChars, 'char')} of transcript, and what is too long shows only if the server refuses it`,
    );
  }
  const origin = configured === null ? `served (${served?.where ?? ''})` : `configured`;
  const seen = `${counted(tokens, 'token')}, ${origin}`;
  if (isTooSmall) {
    return failed(seen, 'Too small for summaries: load the model with a larger window, or use another one');
  }
  if (configured !== null && served !== null && served.tokens < configured) {
    return warn(
      `${seen}; the endpoint says ${sizeOf(served)}`,
      `Load the model with a window of ${count(configured)}, or set ${settings.windowTokens}=${served.tokens}`,
    );
  }
  return ok(seen);
}

const sizeOf = ({ tokens, where }: FoundWindow): string => `${count(tokens)} (${where})`;
