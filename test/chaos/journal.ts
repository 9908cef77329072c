import type { Outcome } from './client.js';

/** Something that clients did to a session, and what they know of it. */
export interface Entry {
  readonly sessionId: string;
  readonly outcome: Outcome['kind'];
  readonly start: number;
  readonly end: number;
}

/** Messages that were sent together. */
export interface SentMessages extends Entry {
  readonly marks: readonly string[];
  /** Where they were said to be; null when no answer told. */
  readonly seq: number | null;
}

/** A turn with a key, by the mark of its message; the mark of the reply when it was answered. */
export interface SentChat extends Entry {
  readonly mark: string;
  readonly replyMark: string | null;
  /** Requests that were sent for it. */
  readonly key: string;
}

export interface SentTask {
  readonly id: string;
  readonly mark: string;
  readonly sessionId: string;
  /** The events that were read while it ran, by their numbers: type and data. */
  readonly events: Map<number, string>;
}

/** A reset whose answer did not come may still take effect for this long, in ms. */
const LATE_MS = 20_000;

/** What the clients of a run know: the service is judged by it afterwards. */
export class Journal {
  readonly sent: SentMessages[] = [];
  readonly chats: SentChat[] = [];
  readonly tasks: SentTask[] = [];
  readonly #resets: Entry[] = [];

  /** A reset is known from the moment at which it is sent; gives what to tell its outcome to. */
  beginReset(sessionId: string): (outcome: Entry['outcome']) => void {
    const start = performance.now();
    const begun: Entry = { sessionId, outcome: 'unknown', start, end: Number.POSITIVE_INFINITY };
    this.#resets.push(begun);
    return (outcome) => {
      const known = outcome === 'refused' ? [] : [{ ...begun, outcome, end: performance.now() }];
      this.#resets.splice(this.#resets.indexOf(begun), 1, ...known);
    };
  }

  /** Whether a reset may have deleted what was sent then: one that was not over before it was begun. */
  mayBeGone({ sessionId, start }: Entry): boolean {
    return this.#resets.some(
      (reset) =>
        reset.sessionId === sessionId && (reset.outcome === 'done' ? reset.end : reset.end + LATE_MS) > start,
    );
  }

  /** Whether a reset has deleted for certain, before `now`, what was stored by the end of this. */
  isGone({ sessionId, outcome, end }: Entry, now: number): boolean {
    if (outcome !== 'done') return false;
    return this.#resets.some(
      (reset) =>
        reset.sessionId === sessionId && reset.outcome === 'done' && reset.start > end && reset.end < now,
    );
  }
}
