/** What a refusal says, in the endpoint's own tokens; null where it says nothing. */
export interface ToldSizes {
  readonly windowTokens: number | null;
  readonly requestedTokens: number | null;
}

/** A window by our own estimate. */
export interface ToldWindow {
  readonly size: number;
  /** Whether the endpoint's unit could be brought to ours; else it is the endpoint's number as it is. */
  readonly isScaled: boolean;
}

/** This much of it is tried: another text may have more tokens than we estimate, and the reply wants room. */
export const SHARE_OF_TOLD = 0.9;

/** Beyond this, our estimate and the endpoint's count cannot be of the same request. */
const LEAST_SCALE = 1 / 5;
const MOST_SCALE = 5;

/**
 * The window that a refusal names, in the unit of our own estimate: both count the same request, so that their ratio
 * brings one to the other. Without the endpoint's count the window is taken as it is. Null when it says nothing of use:
 * no window, one that the request would have fit (some count a reserve for the reply), or one above what was refused.
 *
 * @param size the refused request by our estimate
 */
export function toldWindow(size: number, { windowTokens, requestedTokens }: ToldSizes): ToldWindow | null {
  if (windowTokens === null || !(windowTokens > 0)) return null;
  if (requestedTokens !== null && requestedTokens <= windowTokens) return null;
  const isScaled = requestedTokens !== null;
  const window = Math.floor(windowTokens * (isScaled ? scaleOf(size, requestedTokens) : 1));
  return window < size ? { size: window, isScaled } : null;
}

function scaleOf(size: number, requestedTokens: number): number {
  return Math.min(MOST_SCALE, Math.max(LEAST_SCALE, size / requestedTokens));
}
