/** Decimals a percent may have: enough for 33.333333, few enough for exact arithmetic. */
const DECIMALS = 6;
const SCALE = 10n ** BigInt(DECIMALS);

/** A percent that compaction accepts: 1 to 99, with at most 6 decimals. 100 would leave nothing to answer. */
export function isPercent(value: number): boolean {
  return value >= 1 && value <= 99 && /^\d+(\.\d{1,6})?$/.test(String(value));
}

export const DEFAULT_PERCENT = 50;

/** A percent as stored by this service, or the default for whatever else another program left in the column. */
export function usablePercent(stored: number): number {
  return isPercent(stored) ? stored : DEFAULT_PERCENT;
}

/**
 * floor(total x percent / 100), exactly: the percent is the decimal it prints as, so that 14% of 100 is 14,
 * which `0.14 * 100` (14.000000000000002) and `100 * 29 / 100` styles of arithmetic get wrong for some values.
 *
 * @param total chars, a safe integer >= 0
 * @param percent as `isPercent` accepts; a RangeError otherwise
 */
export function shareOf(total: number, percent: number): number {
  if (!isPercent(percent)) throw new RangeError(`percent must be 1 to 99 with at most ${DECIMALS} decimals`);
  const [whole = '0', decimals = ''] = String(percent).split('.');
  const scaled = BigInt(whole + decimals.padEnd(DECIMALS, '0'));
  return Number((BigInt(total) * scaled) / (100n * SCALE));
}
