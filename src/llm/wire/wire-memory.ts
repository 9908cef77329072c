import { wantedByComplaint } from './complaints.js';
import type { WireOptions } from './options.js';

/**
 * What endpoints have been found to want, by endpoint and model. Without it every request of a conversation
 * would be refused once before it is sent in the right form.
 *
 * Learning ends: an option that was learned is never turned back, or two complaints that contradict each other
 * would have every request sent twice for ever.
 */
export class WireMemory {
  readonly #learned = new Map<string, WireOptions>();
  readonly #configured: WireOptions;
  readonly #maxKeys: number;

  /**
   * @param configured what holds for every key until it is found otherwise
   * @param maxKeys keys remembered; callers may name any model, and the longest unused one is forgotten
   */
  constructor(configured: WireOptions = {}, maxKeys = 1_000) {
    this.#configured = configured;
    this.#maxKeys = maxKeys;
  }

  /** @param key an endpoint and a model */
  optionsFor(key: string): WireOptions {
    const learned = this.#learned.get(key);
    if (learned === undefined) return this.#configured;
    this.#keep(key, learned);
    return { ...this.#configured, ...learned };
  }

  /**
   * Takes in why a request was refused. True when options for the key have changed by it, so that the request
   * is worth sending once more, written with them.
   *
   * @param refusal the message of a refused request, as the endpoint wrote it
   */
  learn(key: string, refusal: string): boolean {
    const learned = this.#learned.get(key) ?? {};
    const wanted = wantedByComplaint(refusal, { ...this.#configured, ...learned });
    const after = { ...wanted, ...learned };
    if (Object.keys(after).length === Object.keys(learned).length) return false;
    this.#keep(key, after);
    return true;
  }

  #keep(key: string, learned: WireOptions): void {
    this.#learned.delete(key);
    this.#learned.set(key, learned);
    for (const oldest of this.#learned.keys()) {
      if (this.#learned.size <= this.#maxKeys) break;
      this.#learned.delete(oldest);
    }
  }
}
