import { createParser } from 'eventsource-parser';

/** Longest single event, in UTF-16 units. A stream that never ends a line would otherwise fill the memory. */
const EVENT_LIMIT = 8 * 1024 * 1024;

export interface SseEvent {
  /** `error` also for a line that uses `error:` as its field name, as older llama.cpp servers do. */
  readonly name: string | null;
  readonly data: string;
}

/**
 * Cuts text into server-sent events, in any chunking. Line ends are made LF here, because the parser holds a CR
 * at the end of a chunk back until more text comes: with CR line ends a final `[DONE]` would wait for ever.
 */
export class SseEvents {
  readonly #parser;
  #events: SseEvent[] = [];
  #endedInCr = false;
  #firstJunk: string | null = null;
  #tooLong = false;

  constructor() {
    this.#parser = createParser({
      maxBufferSize: EVENT_LIMIT,
      onEvent: ({ event, data }) => {
        this.#events.push({ name: event ?? null, data });
      },
      onError: ({ type, field, value, line }) => {
        if (type === 'max-buffer-size-exceeded') this.#tooLong = true;
        else if (field === 'error') this.#events.push({ name: 'error', data: value ?? '' });
        else this.#firstJunk ??= line ?? null;
      },
    });
  }

  /** The events that this piece of text completed, in order. */
  feed(text: string): SseEvent[] {
    if (this.#tooLong || text === '') return [];
    const continued = this.#endedInCr && text.startsWith('\n') ? text.slice(1) : text;
    this.#endedInCr = text.endsWith('\r');
    this.#parser.feed(continued.replace(/\r\n?/g, '\n'));
    return this.#take();
  }

  /** What an unfinished last event comes to, had the server ended it: some send no blank line after it. */
  flush(): SseEvent[] {
    return this.feed('\n\n');
  }

  /** The first line that is no field of the format, such as the text of an error page; null without any. */
  get firstJunk(): string | null {
    return this.#firstJunk;
  }

  get tooLong(): boolean {
    return this.#tooLong;
  }

  #take(): SseEvent[] {
    const events = this.#events;
    this.#events = [];
    return events;
  }
}
