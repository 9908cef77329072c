import { type ChunkLimit, longestWithin, Tally } from './chunk-limit.js';
import { type ChatMessage, measure } from './measure.js';
import type { SummarizerBudget } from './summarizer.js';
import {
  type CallNames,
  callNamesAfter,
  label,
  renderMessage,
  type TranscriptOptions,
} from './transcript.js';

/** A message of the batch, as the store has it. */
export interface BatchMessage {
  readonly position: number;
  /** Position of its tool group's first message, or its own. */
  readonly groupStart: number;
  readonly message: ChatMessage;
}

/** A piece of the batch's transcript, and where the batch stands once it is folded. */
export interface Chunk {
  readonly text: string;
  /** Chars of the messages it covers, by the measure of `measure.ts`. */
  readonly chars: number;
  /** Position up to which everything is folded, when that is a place to cut; null in the middle of a group. */
  readonly safeEnd: number | null;
  /** How many buffered messages it ends, and where in the next one it stops. */
  readonly whole: number;
  readonly offset: number;
}

interface Rendered {
  readonly position: number;
  readonly text: string;
  readonly chars: number;
  readonly continuedLabel: string;
  /** Whether the batch may be cut right after this message. */
  safeAfter: boolean;
}

/**
 * Turns a batch into transcript chunks within a budget, reading ahead only as far as a chunk needs. Nothing
 * moves before `advance`, so that a chunk that proved too large can be taken again, smaller.
 */
export class ChunkReader {
  readonly #read: (from: number) => Promise<readonly BatchMessage[]>;
  readonly #end: number;
  readonly #unit: SummarizerBudget['unit'];
  readonly #options: TranscriptOptions;
  #next: number;
  #names: CallNames = new Map();
  #buffer: Rendered[] = [];
  /** Chars of the first buffered message that are folded already. */
  #offset = 0;

  /**
   * @param read the next messages from a position on, at least one; called only below `end`
   * @param from first position of the batch, a safe cut
   * @param end position after the batch, a safe cut
   */
  constructor(
    read: (from: number) => Promise<readonly BatchMessage[]>,
    from: number,
    end: number,
    unit: SummarizerBudget['unit'],
    options: TranscriptOptions,
  ) {
    this.#read = read;
    this.#next = from;
    this.#end = end;
    this.#unit = unit;
    this.#options = options;
  }

  get done(): boolean {
    return this.#buffer.length === 0 && this.#next >= this.#end;
  }

  /** The longest chunk within the limit that ends at a safe cut; failing that, after a message or inside one. */
  async take(limit: ChunkLimit): Promise<Chunk> {
    await this.#fill(limit);
    const texts: string[] = [];
    const tally = new Tally(limit.unit ?? this.#unit, limit);
    let chars = 0;
    let atMessage: Omit<Chunk, 'text'> | null = null;
    let atSafeCut: Omit<Chunk, 'text'> | null = null;
    for (const [index, rendered] of this.#buffer.entries()) {
      const text = index === 0 ? this.#restOfFirst(rendered) : rendered.text;
      const separated = texts.length === 0 || text === '' ? text : `\n\n${text}`;
      tally.add(separated);
      if (tally.isOver) break;
      texts.push(separated);
      chars += index === 0 && this.#offset > 0 ? Math.min(rendered.chars, text.length) : rendered.chars;
      const safeEnd = rendered.safeAfter ? rendered.position + 1 : null;
      atMessage = { chars, safeEnd, whole: index + 1, offset: 0 };
      if (rendered.safeAfter) atSafeCut = atMessage;
    }
    const end = atSafeCut ?? atMessage;
    // Joined once, at the end: a chunk may have thousands of messages.
    return end === null ? this.#piece(limit) : { ...end, text: texts.slice(0, end.whole).join('') };
  }

  /** Moves past a chunk that was folded. */
  advance(chunk: Chunk): void {
    this.#buffer.splice(0, chunk.whole);
    this.#offset = chunk.offset;
  }

  /** One message over the limit is fed in pieces, all of it. */
  #piece(limit: ChunkLimit): Chunk {
    const first = this.#buffer[0];
    if (first === undefined) throw new RangeError('there is nothing left to take');
    const lead = this.#leadOf(first);
    const rest = first.text.slice(this.#offset);
    const piece = rest.slice(0, longestWithin(rest, lead, limit.unit ?? this.#unit, limit));
    const offset = this.#offset + piece.length;
    return { text: lead + piece, chars: piece.length, safeEnd: null, whole: 0, offset };
  }

  #restOfFirst(first: Rendered): string {
    return this.#leadOf(first) + first.text.slice(this.#offset);
  }

  /** A message that goes on says so; its first piece has its label already. */
  #leadOf(first: Rendered): string {
    return this.#offset === 0 ? '' : `${first.continuedLabel}\n`;
  }

  async #fill(limit: ChunkLimit): Promise<void> {
    // Reads on until the chunk is surely full: whether it may end after a message, the next one tells.
    const tally = new Tally(limit.unit ?? this.#unit, limit);
    for (const [index, rendered] of this.#buffer.entries()) {
      tally.add(index === 0 ? this.#restOfFirst(rendered) : rendered.text);
    }
    while (this.#next < this.#end && !tally.isOver) {
      for (const row of await this.#read(this.#next)) {
        if (row.position >= this.#end) break;
        const previous = this.#buffer.at(-1);
        if (previous !== undefined) previous.safeAfter = row.groupStart >= row.position;
        const text = renderMessage(row.message, this.#names, this.#options);
        this.#names = callNamesAfter(row.message, this.#names);
        this.#buffer.push({
          position: row.position,
          text,
          chars: measure(row.message).chars,
          continuedLabel: `[${label(row.message, this.#names)} (continued)]`,
          safeAfter: row.position + 1 === this.#end,
        });
        tally.add(text);
        this.#next = row.position + 1;
      }
    }
  }
}
