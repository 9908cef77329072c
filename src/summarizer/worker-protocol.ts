import type { ExtractRequest } from './extract.js';

/** The two long texts of a request; they travel in pages, the rest with the `run` that follows them. */
export type PagedText = 'transcript' | 'previousSummary';

/** To the worker: any number of pages of one job, then its run. One job at a time. */
export type ToWorker =
  | { readonly kind: 'page'; readonly of: PagedText; readonly text: string }
  | {
      readonly kind: 'run';
      readonly hasPrevious: boolean;
      readonly rest: Pick<ExtractRequest, 'instructions' | 'maxChars'>;
    };

/** From the worker: exactly one per run. */
export type FromWorker =
  | { readonly kind: 'summary'; readonly text: string }
  | { readonly kind: 'failed'; readonly message: string };
