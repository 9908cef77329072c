/** A result with the time it took, in ms. */
export interface Timed<Value> {
  readonly value: Value;
  readonly ms: number;
}

/** Runs what must come to an end soon after its signal fires, which it does after `limitMs`. */
export async function withTimeLimit<Value>(
  limitMs: number,
  run: (signal: AbortSignal) => Promise<Value>,
): Promise<Timed<Value>> {
  const limit = new AbortController();
  const timer = setTimeout(() => limit.abort(), limitMs);
  const started = performance.now();
  try {
    const value = await run(limit.signal);
    return { value, ms: performance.now() - started };
  } finally {
    clearTimeout(timer);
  }
}
