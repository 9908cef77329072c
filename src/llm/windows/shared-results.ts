export interface SharedResultsOptions<Value> {
  /** How long a result holds, in ms from when it was there. */
  readonly lifeMs: (value: Value) => number;
  /** Keys remembered; the oldest one is forgotten. */
  readonly maxKeys: number;
  /** The time in ms. */
  readonly now: () => number;
}

interface Entry<Value> {
  readonly result: Promise<Value>;
  /** Infinity while it is under way: everybody who asks meanwhile shares it. */
  expiresAt: number;
}

/** Results by key, each found out once for all who ask, and again when it is too old. `find` must not reject. */
export class SharedResults<Value> {
  readonly #entries = new Map<string, Entry<Value>>();
  readonly #find: (key: string) => Promise<Value>;
  readonly #options: SharedResultsOptions<Value>;

  constructor(find: (key: string) => Promise<Value>, options: SharedResultsOptions<Value>) {
    this.#find = find;
    this.#options = options;
  }

  get(key: string): Promise<Value> {
    const { lifeMs, maxKeys, now } = this.#options;
    const known = this.#entries.get(key);
    if (known !== undefined && now() < known.expiresAt) return known.result;
    const entry: Entry<Value> = {
      result: this.#find(key).then((value) => {
        entry.expiresAt = now() + lifeMs(value);
        return value;
      }),
      expiresAt: Number.POSITIVE_INFINITY,
    };
    this.#entries.delete(key);
    this.#entries.set(key, entry);
    for (const oldest of this.#entries.keys()) {
      if (this.#entries.size <= maxKeys) break;
      this.#entries.delete(oldest);
    }
    return entry.result;
  }
}
