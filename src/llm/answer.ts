import type { Dispatcher } from 'undici';
import type { Clocks } from './clocks.js';
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
}
