import type { ChatMessage } from './request-body.js';
import type { ToolFields } from './request-tools.js';

/** One chat, as it is asked of the client. */
export interface ChatCall extends ToolFields {
  /** In the form that the endpoint takes: they are sent as they are, so cleaned before (`wire/clean-for-wire.ts`). */
  readonly messages: readonly ChatMessage[];
  /** Instead of the endpoint's configured model. */
  readonly model?: string | undefined;
  /** Instead of a configured extra field; left out where the model refuses it. */
  readonly temperature?: number | undefined;
  /** Instead of the endpoint's configured cap, in tokens; null sends none. */
  readonly maxOutputTokens?: number | null | undefined;
  /**
   * Given the text of the reply while it comes, piece by piece, in order; of a whole reply the pieces are its `text`.
   * From the first piece on nothing is sent again, whatever fails, so that no text is ever handed out twice: the
   * outcome then tells of the failure, and what was handed out is all there is. An exception of it cancels the call.
   */
  readonly onText?: ((text: string) => void) | undefined;
  /** Ends the call within milliseconds, at any moment, with the outcome `aborted`. */
  readonly signal: AbortSignal;
}

/** Passes text on until the first exception, and knows whether any was passed on. */
export class TextOutlet {
  readonly #onText: ((text: string) => void) | undefined;
  readonly #cancel: () => void;
  #used = false;
  #broken = false;

  constructor(onText: ((text: string) => void) | undefined, cancel: () => void) {
    this.#onText = onText;
    this.#cancel = cancel;
  }

  /** Whether the caller has seen text, so that a second request could not be hidden from it. */
  get isUsed(): boolean {
    return this.#used;
  }

  /** Undefined when nobody listens. */
  get handOut(): ((text: string) => void) | undefined {
    const onText = this.#onText;
    if (onText === undefined) return undefined;
    return (text) => {
      if (this.#broken) return;
      this.#used = true;
      try {
        onText(text);
      } catch {
        this.#broken = true;
        this.#cancel();
      }
    };
  }
}
