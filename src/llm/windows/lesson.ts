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

export function afterRefusal(known: Lesson | undefined, size: number, sizes: ToldSizes): Lesson {
  const told = known?.told ?? null;
  const accepted = known?.accepted ?? null;
  return {
    refused: Math.min(size, known?.refused ?? size),
    told: toldWindow(size, sizes) ?? (told !== null && told.size < size ? told : null),
    accepted: accepted !== null && accepted < size ? accepted : null,
  };
}

export function afterAnswer(known: Lesson, size: number): Lesson {
  // The model was loaded anew, or it counts this text in another way: what was taken last counts.
  if (size >= known.refused) return { refused: Number.POSITIVE_INFINITY, told: null, accepted: size };
  const told = known.told !== null && size > known.told.size ? null : known.told;
  const isEvidence = size >= Math.min(known.refused, known.told?.size ?? known.refused) * SMALLEST_EVIDENCE;
  return {
    ...known,
    told,
    accepted: isEvidence ? Math.max(size, known.accepted ?? 0) : known.accepted,
  };
}

/**
 * @param searching whether larger sizes than what was accepted are worth a refusal: so the compaction that met the
 *   first one finds the window, and those after it meet none
 */
export function promptSizes({ refused, told, accepted }: Lesson, searching: boolean): PromptSizes {
  // A window in the endpoint's unit is a start, and bounds nothing: by our estimate it may be several times that.
  const scaled = told?.isScaled === true ? told.size : null;
  const below = Math.min(refused, (scaled ?? refused) + 1);
  const tried = told !== null && (accepted === null || told.isScaled) ? told.size * SHARE_OF_TOLD : 0;
  const safe = Math.max(accepted ?? 0, Math.floor(tried));
  if (safe === 0) return { next: below, below };
  const isFound = accepted === null || scaled !== null || below <= accepted * CLOSE;
  // The middle by ratio: it takes as many tries up as down.
  return { next: searching && !isFound ? Math.floor(Math.sqrt(safe * below)) : safe, below };
}
