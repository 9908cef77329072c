/** What one check came to; everything in it is fit to be shown: no key, one line each. */
export interface CheckResult {
  /** `warn`: it works, but not as well as it could. `skipped`: an earlier row says why. */
  readonly result: 'ok' | 'warn' | 'failed' | 'skipped';
  /** What was seen. */
  readonly seen: string;
  /** What to do about it; '' when there is nothing to do. */
  readonly advice: string;
}

export interface Row extends CheckResult {
  readonly check: string;
}

export const ok = (seen: string): CheckResult => ({ result: 'ok', seen, advice: '' });
export const warn = (seen: string, advice: string): CheckResult => ({ result: 'warn', seen, advice });
export const failed = (seen: string, advice: string): CheckResult => ({ result: 'failed', seen, advice });
export const skipped = (seen: string): CheckResult => ({ result: 'skipped', seen, advice: '' });

/** A duration as people read it. */
export function duration(ms: number): string {
  return ms < 1_000 ? `${Math.round(ms)} ms` : `${(ms / 1_000).toFixed(1)} s`;
}
