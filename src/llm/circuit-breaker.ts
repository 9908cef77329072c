import type { Outcome } from './outcome.js';

export interface CircuitBreakerOptions {
  /** Failures in a row after which automatic work stays away. */
  readonly failures: number;
  /** How long it stays away, in ms; longer where the endpoint asks for more. */
  readonly openMs: number;
  /** Ms on any scale that only goes forward, such as `performance.now`. */
  readonly clock: () => number;
}

/** `manual` is a call that somebody asked for and waits for. */
export type CallOrigin = 'automatic' | 'manual';

/** Told once how the call ended; later calls of it do nothing. */
export type Report = (outcome: Outcome) => void;

/** Failures that say that the endpoint is down or swamped. */
const DOWN: readonly Outcome['kind'][] = ['unavailable', 'timeout', 'rate_limited'];
/** These say neither that it is down nor that it is well. */
const NO_VERDICT: readonly Outcome['kind'][] = ['aborted', 'incomplete', 'empty', 'protocol'];

/**
 * Keeps automatic work away from an endpoint that is down, so that a service with a thousand sessions does not
 * send it a thousand requests, with their retries, that all fail. Closed: everything may call. Open, after so many
 * failures in a row: only manual calls. Half open, after a while: manual calls, and one automatic call at a time
 * to see. Any call that the endpoint answers closes it: a refusal of one request shows that it is there.
 */
export class CircuitBreaker {
  readonly #options: CircuitBreakerOptions;
  #failed = 0;
  /** End of the time that automatic work stays away, on the clock's scale; null while closed. */
  #openUntil: number | null = null;
  #probing = false;

  constructor(options: CircuitBreakerOptions) {
    this.#options = options;
  }

  get state(): 'closed' | 'open' | 'half_open' {
    if (this.#openUntil === null) return 'closed';
    return this.waitMs > 0 ? 'open' : 'half_open';
  }

  /** Time until automatic work may try again, in ms; 0 when it may, or when another such call is finding out. */
  get waitMs(): number {
    return this.#openUntil === null ? 0 : Math.max(0, this.#openUntil - this.#options.clock());
  }

  /** Leave to call, as the function that must be told the outcome; null for automatic work that must not. */
  enter(origin: CallOrigin): Report | null {
    const probes = origin === 'automatic' && this.state !== 'closed';
    if (probes && (this.waitMs > 0 || this.#probing)) return null;
    if (probes) this.#probing = true;
    let reported = false;
    return (outcome) => {
      if (reported) return;
      reported = true;
      if (probes) this.#probing = false;
      this.#take(outcome);
    };
  }

  #take(outcome: Outcome): void {
    if (NO_VERDICT.includes(outcome.kind)) return;
    if (!DOWN.includes(outcome.kind)) {
      this.#failed = 0;
      this.#openUntil = null;
      return;
    }
    this.#failed += 1;
    // While open, failures of manual calls and of those that were under way prolong nothing.
    if (this.state === 'open' || this.#failed < this.#options.failures) return;
    const asked = 'retryAfterMs' in outcome ? (outcome.retryAfterMs ?? 0) : 0;
    this.#openUntil = this.#options.clock() + Math.max(this.#options.openMs, asked);
  }
}

/** Failures in a row, each after its retries, that make automatic work stay away for half a minute. */
export function createBreaker(): CircuitBreaker {
  return new CircuitBreaker({ failures: 5, openMs: 30_000, clock: () => performance.now() });
}
