const whole = new Intl.NumberFormat('en-US', { maximumFractionDigits: 0 });

/** `12,345` */
export function count(value: number): string {
  return whole.format(value);
}

/** `1 session`, `2,000 sessions` */
export function counted(value: number, noun: string): string {
  return `${count(value)} ${noun}${value === 1 ? '' : 's'}`;
}

/** Bytes as `0.3 MB`, `1,204.0 MB`. */
export function megabytes(bytes: number): string {
  const tenths = Math.round(bytes / 100_000);
  return `${count(Math.floor(tenths / 10))}.${tenths % 10} MB`;
}
