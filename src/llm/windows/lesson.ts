import { SHARE_OF_TOLD, type ToldSizes, type ToldWindow, toldWindow } from './told-window.js';

/**
 * What answers and refusals have taught about one model. All sizes are whole prompts by our own estimate (UTF-8
 * bytes / 3), because that is what prompts are built by: the endpoint's counts are of another unit, and some count
 * nothing at all.
 */
export interface Lesson {
  /** The smallest size that was refused; Infinity once that much was accepted. */
  readonly refused: number;
  /** The window that a refusal named, as long as nothing speaks against it; null without one. */
  readonly told: ToldWindow | null;
  /** The largest size that was accepted after a larger one was refused; null as long as none was. */
  readonly accepted: number | null;
  /** Prompts of about the told size that were accepted since the last refusal. */
  readonly held: number;
  /** When it was refused last, in ms of the caller's clock. */
  readonly refusedAt: number;
}

/** Which prompts to send next, by our estimate. */
export interface PromptSizes {
  /** The largest that is worth a try; `below` when nothing speaks for any size. */
  readonly next: number;
  /** This much does not fit, by all that is known. */
  readonly below: number;
}

export const NOTHING_LEARNED: PromptSizes = {
  next: Number.POSITIVE_INFINITY,
  below: Number.POSITIVE_INFINITY,
};

/** A short call that passes beside a refused long one says nothing. The first try after a refusal is a quarter of it. */
const SMALLEST_EVIDENCE = 1 / 5;
/** A refused size within this factor of an accepted one is close enough: searching on costs more than it saves. */
const CLOSE = 1.15;
/** Later compactions go on only where a refused size is farther away than this: nearer, the search is over or was. */
const FAR = 3;
/** What is tried next is at most this many times what was accepted. */
const GROWTH = 2;
/** Prompts that a told window may pace; then it must show itself again. One wrong refusal costs no more than these. */
const TRUSTED_CALLS = 20;
/** After this time without a refusal a larger size is tried: models are loaded anew, and refusals may be mistaken. */
const REFUSAL_LIFE_MS = 10 * 60_000;

/** @param nowMs the time on any scale that only goes forward, in ms */
export function afterRefusal(
  known: Lesson | undefined,
  size: number,
  sizes: ToldSizes,
  nowMs: number,
): Lesson {
  const told = known?.told ?? null;
  const accepted = known?.accepted ?? null;
  return {
    refused: Math.min(size, known?.refused ?? size),
    told: toldWindow(size, sizes) ?? (told !== null && told.size < size ? told : null),
    accepted: accepted !== null && accepted < size ? accepted : null,
    held: 0,
    refusedAt: nowMs,
  };
}

export function afterAnswer(known: Lesson, size: number): Lesson {
  // The model was loaded anew, or it counts this text in another way: what was taken last counts.
  if (size >= known.refused) {
    return { ...known, refused: Number.POSITIVE_INFINITY, told: null, accepted: size };
  }
  const { told, accepted } = known;
  const isContradicted = told !== null && size > told.size;
  const held = known.held + (told !== null && size >= told.size / 2 ? 1 : 0);
  // Beside a told window that was just shown to be wrong, only the refused size says what a short call is.
  const reference = Math.min(known.refused, isContradicted ? known.refused : (told?.size ?? known.refused));
  const isEvidence = accepted !== null || size >= reference * SMALLEST_EVIDENCE;
  return {
    ...known,
    told: isContradicted || held >= TRUSTED_CALLS ? null : told,
    accepted: isEvidence ? Math.max(size, accepted ?? 0) : accepted,
    held,
  };
}

/**
 * @param searching whether larger sizes than what was accepted are worth a refusal: so the compaction that met the
 *   first one finds the window. Those after it meet none, but grow where the refused size is far away, since one
 *   refusal may have been a mistake
 * @param nowMs as in `afterRefusal`
 */
export function promptSizes(lesson: Lesson, searching: boolean, nowMs: number): PromptSizes {
  const { told, accepted } = lesson;
  const isOld = nowMs - lesson.refusedAt >= REFUSAL_LIFE_MS;
  const refused = isOld ? Number.POSITIVE_INFINITY : lesson.refused;
  // A window in the endpoint's unit is a start, and bounds nothing: by our estimate it may be several times that.
  const scaled = told?.isScaled === true && !isOld ? told.size : null;
  const below = Math.min(refused, (scaled ?? refused) + 1);
  const tried = told !== null && (accepted === null || told.isScaled) ? told.size * SHARE_OF_TOLD : 0;
  const safe = Math.max(accepted ?? 0, Math.floor(tried));
  if (safe === 0) return { next: below, below };
  if (below === Number.POSITIVE_INFINITY) return { next: safe * GROWTH, below };
  if (accepted === null || scaled !== null || below <= accepted * (searching ? CLOSE : FAR)) {
    return { next: safe, below };
  }
  // The middle by ratio: it takes as many tries up as down.
  const middle = Math.floor(Math.sqrt(safe * below));
  return { next: searching ? middle : Math.min(middle, safe * GROWTH), below };
}
