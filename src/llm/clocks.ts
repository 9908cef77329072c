export type ClockName = 'connect' | 'first_byte' | 'silence' | 'total';

/** All in ms, each for one attempt. 0 or less switches a clock off. */
export interface ClockLimits {
  readonly connectTimeoutMs: number;
  readonly firstByteTimeoutMs: number;
  readonly silenceTimeoutMs: number;
  readonly totalTimeoutMs: number;
}

/** Longest delay that `setTimeout` takes; it fires at once above it. */
const LONGEST_TIMER_MS = 2_147_483_647;
/** How long a finished reply may keep its usage or its `[DONE]` back, in ms. */
const LINGER_MS = 5_000;

/**
 * The four clocks of one attempt (a retry starts new ones). Each covers what the others cannot see:
 *
 * - `connect`: until the request is on the wire (name lookup, TCP, TLS).
 * - `first_byte`: from then until the first part of the reply. Long, because a busy server queues before it
 *   answers. Headers do not end it: some servers send none while they queue (llama.cpp), others send them at once and
 *   then comments or blank lines until it is the request's turn (OpenRouter, DeepSeek).
 * - `silence`: from then on, between two parts of the reply. Only `life()` resets it: comments and blank lines
 *   prove that a proxy lives, not that the model does.
 * - `total`: the whole attempt, from its start.
 *
 * They are plain timers and not undici's, which run up to a second late and are reset by comments.
 */
export class Clocks {
  readonly #limits: ClockLimits;
  readonly #expired: (clock: ClockName) => void;
  readonly #timers = new Map<ClockName, NodeJS.Timeout>();
  /** Whether a part of the reply has come. */
  #begun = false;
  #stopped = false;

  constructor(limits: ClockLimits, expired: (clock: ClockName) => void) {
    this.#limits = limits;
    this.#expired = expired;
    this.#start('total', limits.totalTimeoutMs);
    this.#start('connect', limits.connectTimeoutMs);
  }

  requestSent(): void {
    this.#stop('connect');
    this.#start('first_byte', this.#limits.firstByteTimeoutMs);
  }

  headersReceived(): void {
    this.#stop('connect');
  }

  /** A part of the reply came. */
  life(): void {
    if (this.#begun) this.#timers.get('silence')?.refresh();
    else this.#begin(this.#limits.silenceTimeoutMs);
  }

  /** The reply is complete but the stream is open; from here on it need not be waited for long. */
  replyFinished(): void {
    const silence = this.#limits.silenceTimeoutMs;
    this.#begin(silence > 0 ? Math.min(silence, LINGER_MS) : LINGER_MS);
  }

  stop(): void {
    this.#stopped = true;
    for (const clock of [...this.#timers.keys()]) this.#stop(clock);
  }

  #begin(silenceMs: number): void {
    this.#begun = true;
    this.#stop('first_byte');
    this.#start('silence', silenceMs);
  }

  #start(clock: ClockName, limitMs: number): void {
    this.#stop(clock);
    if (this.#stopped || limitMs <= 0) return;
    const timer = setTimeout(() => this.#expired(clock), Math.min(limitMs, LONGEST_TIMER_MS));
    this.#timers.set(clock, timer);
  }

  #stop(clock: ClockName): void {
    clearTimeout(this.#timers.get(clock));
    this.#timers.delete(clock);
  }
}
