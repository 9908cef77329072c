import type { Dispatcher } from 'undici';
import type { Clocks } from './clocks.js';
import type { ErrorFacts } from './error-facts.js';
import type { Outcome, Usage } from './outcome.js';
import type { CleanText } from './redact.js';
import type { Stop } from './stop.js';

/** The answer to a request, and what is needed to read it. */
export interface Answer {
  readonly url: URL;
  readonly clean: CleanText;
  readonly response: Dispatcher.ResponseData;
  readonly clocks: Clocks;
  /** What ended the attempt from this side; null as long as nothing did. */
  readonly stopped: () => Stop | null;
  /** Given the text of the reply while it comes, piece by piece. */
  readonly onText?: ((text: string) => void) | undefined;
}

/** What an answer came to. */
export interface ReadAnswer {
  readonly outcome: Outcome;
  readonly usage: Usage;
  /** The error that the endpoint reported, by its status or inside a 200; null when it reported none. */
  readonly refusal: ErrorFacts | null;
}
