import { isRecord, parseJson } from './narrow.js';
import type { Completion, Usage } from './outcome.js';
import { ReplyAccumulator } from './reply-accumulator.js';
import { errorIn } from './reply-errors.js';
import { type SseEvent, SseEvents } from './sse-events.js';

/**
 * Longest excerpt of an unreadable answer in a message, in UTF-16 units. More than is ever shown: a secret is only
 * found where it is whole, or where the text ends with it, and tags and blanks that are folded bring the end into view.
 */
const EXCERPT = 8_192;

type Problem =
  /** An error document, still to be classified. */
  | { readonly kind: 'error'; readonly document: unknown }
  | { readonly kind: 'incomplete' | 'empty' | 'protocol'; readonly message: string };

export type ReplyEnd = Completion | Problem;

/** How the body ended: by itself, or because the connection broke or went silent. */
export type BodyEnd = 'closed' | 'broken';

/**
 * Reads the body of an answer with status 200, in any chunking, as what it is: an event stream or one JSON
 * document. What was asked for does not decide this, nor does the content type alone: there are servers that
 * ignore `stream`, servers that send errors as JSON under an event stream's type, and the reverse.
 */
export class ReplyReader {
  readonly #reply = new ReplyAccumulator();
  readonly #events = new SseEvents();
  readonly #isEventStream: boolean;
  #form: 'undecided' | 'json' | 'events' | 'text' = 'undecided';
  #pieces: string[] = [];
  #problem: Problem | null = null;
  #dataSeen = false;
  #doneSeen = false;

  constructor(contentType: string) {
    this.#isEventStream = /text\/event-stream/i.test(contentType);
  }

  /** Takes the next piece of text. True when it brought a part of the reply, and not just comments or blanks. */
  feed(text: string): boolean {
    const piece = this.#form === 'undecided' ? text.replace(/^[\s\uFEFF]+/, '') : text;
    if (piece === '') return false;
    if (this.#form === 'undecided') this.#form = this.#formOf(piece.charAt(0));
    if (this.#form === 'events') return this.#takeEvents(this.#events.feed(piece));
    this.#pieces.push(piece);
    return piece.trim() !== '';
  }

  /** Nothing more needs to be read: the end marker or an error came. What follows it is not part of the reply. */
  get isOver(): boolean {
    return this.#doneSeen || this.#problem !== null;
  }

  /** The model has finished; only usage and the end marker may still come. */
  get isFinished(): boolean {
    return this.#reply.finishReason !== null;
  }

  get usage(): Usage {
    return this.#reply.usage;
  }

  /**
   * The text of the reply that came since this was last asked for. None beside an error: then the text is no part
   * of any reply, and as long as none was handed out the request may be sent again.
   */
  takeText(): string {
    return this.#problem === null ? this.#reply.takeText() : '';
  }

  /** What the body came to. A reply that is complete counts, also when the connection broke after it. */
  conclude(end: BodyEnd): ReplyEnd {
    if (this.#form === 'json' || this.#form === 'text') return this.#concludeDocument(end);
    if (end === 'closed' && !this.isOver) this.#takeEvents(this.#events.flush(), true);
    if (this.#problem !== null) return this.#problem;
    if (this.#doneSeen || this.isFinished) {
      return this.#reply.choiceSeen
        ? this.#reply.completion()
        : { kind: 'empty', message: 'The answer of the model endpoint holds no choice' };
    }
    const junk = this.#dataSeen ? null : this.#events.firstJunk;
    if (junk !== null) return unreadable(junk);
    if (this.#form === 'undecided' && end === 'closed' && !this.#isEventStream) {
      return { kind: 'protocol', message: 'The answer of the model endpoint is empty' };
    }
    return { kind: 'incomplete', message: 'The answer of the model endpoint ended before the reply did' };
  }

  #formOf(first: string): 'json' | 'events' | 'text' {
    if (first === '{' || first === '[') return 'json';
    if (this.#isEventStream) return 'events';
    // A comment, or the first letter of data, event, id, retry or error.
    return ':deir'.includes(first) ? 'events' : 'text';
  }

  #takeEvents(events: readonly SseEvent[], atEnd = false): boolean {
    let alive = false;
    for (const event of events) {
      if (this.isOver) return true;
      alive = this.#takeEvent(event, atEnd) || alive;
    }
    if (this.#events.tooLong) {
      this.#problem ??= { kind: 'protocol', message: 'An event of the model endpoint is too long' };
    }
    return alive;
  }

  #takeEvent({ name, data }: SseEvent, atEnd: boolean): boolean {
    const text = data.trim();
    if (text === '[DONE]') {
      this.#doneSeen = true;
      return true;
    }
    const document = parseJson(text);
    if (name === 'error') {
      this.#reply.add(document);
      this.#problem = { kind: 'error', document: document ?? text };
      return true;
    }
    if (text === '') return false;
    // The last event of a body that ended without a blank line may be cut; then the stream is incomplete.
    if (document === undefined && atEnd) return false;
    this.#dataSeen = true;
    const error = errorIn(document);
    if (error !== null) this.#problem = { kind: 'error', document: error };
    else if (!isRecord(document)) this.#problem = unreadable(text);
    return this.#reply.add(document);
  }

  #concludeDocument(end: BodyEnd): ReplyEnd {
    const text = this.#pieces.join('');
    const document = parseJson(text);
    if (document === undefined && end === 'broken') {
      return { kind: 'incomplete', message: 'The answer of the model endpoint broke off' };
    }
    const error = errorIn(document);
    this.#reply.add(document);
    if (error !== null) return { kind: 'error', document: error };
    if (!isRecord(document)) return unreadable(text);
    return this.#reply.choiceSeen
      ? this.#reply.completion()
      : { kind: 'empty', message: 'The answer of the model endpoint holds no choice' };
  }
}

function unreadable(text: string): Problem {
  const excerpt = text.slice(0, EXCERPT);
  return { kind: 'protocol', message: `The answer of the model endpoint is no chat completion: ${excerpt}` };
}
