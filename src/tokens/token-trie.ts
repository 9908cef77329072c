/** Slots of the table, a power of two: o200k has 421,661 nodes, so that two of five are taken. */
const SLOT_BITS = 20;
const SLOTS = 1 << SLOT_BITS;
const MOST_NODES = (SLOTS / 4) * 3;
/** Two numbers a slot: the key, then the value. */
const MASK = SLOTS * 2 - 1;
const GOLDEN = 0x9e3779b1;

/** Bits of a value, below the number of the child. Most tokens begin no longer one: no need to look. */
const ENDS_TOKEN = 1;
const HAS_CHILDREN = 2;
const CHILD_SHIFT = 2;

/**
 * The tokens of a vocabulary as a trie over their UTF-8 bytes, kept in one flat table of 8 MB: as JavaScript maps the
 * same vocabulary takes 55 MB. Each edge is a slot: key (node, byte), value (child, what is there).
 */
export class TokenTrie {
  /** An open hash table; key 0 is an empty slot. */
  readonly #table = new Int32Array(SLOTS * 2);
  #nodes = 1;

  /** Throws when the vocabulary is bigger than the table was made for. */
  add(token: Uint8Array): void {
    const table = this.#table;
    let node = 0;
    let slot = -1;
    for (const byte of token) {
      const parent = slot;
      const key = ((node << 8) | byte) + 1;
      slot = slotOf(table, key);
      if (table[slot] === 0) {
        if (this.#nodes >= MOST_NODES) throw new RangeError(`A vocabulary of over ${MOST_NODES} nodes`);
        table[slot] = key;
        table[slot + 1] = this.#nodes << CHILD_SHIFT;
        if (parent >= 0) mark(table, parent, HAS_CHILDREN);
        this.#nodes += 1;
      }
      node = (table[slot + 1] ?? 0) >> CHILD_SHIFT;
    }
    if (slot >= 0) mark(table, slot, ENDS_TOKEN);
  }

  /**
   * Tokens of the text, taking the longest token at each place. The real encoding merges pairs by rank: slower, and
   * with runs without spaces its time grows with the square. A byte that begins no token counts as one.
   */
  count(text: string): number {
    const table = this.#table;
    const bytes = Buffer.from(text);
    let count = 0;
    for (let start = 0; start < bytes.length; count += 1) {
      let end = start + 1;
      let node = 0;
      for (let at = start; at < bytes.length; ) {
        const slot = slotOf(table, ((node << 8) | (bytes[at] ?? 0)) + 1);
        if (table[slot] === 0) break;
        const value = table[slot + 1] ?? 0;
        at += 1;
        if ((value & ENDS_TOKEN) !== 0) end = at;
        if ((value & HAS_CHILDREN) === 0) break;
        node = value >> CHILD_SHIFT;
      }
      // The last blank of several goes with the word after it, in the real encoding.
      const leaves = end - start > 1 && end < bytes.length && isBlank(bytes[end - 1]) && !isSpace(bytes[end]);
      start = leaves ? end - 1 : end;
    }
    return count;
  }
}

/** A space or tab. */
export function isBlank(byte: number | undefined): boolean {
  return byte === 0x20 || byte === 0x09;
}

export function isLineBreak(byte: number | undefined): boolean {
  return byte === 0x0a || byte === 0x0d;
}

const isSpace = (byte: number | undefined): boolean => isBlank(byte) || isLineBreak(byte);

function mark(table: Int32Array, slot: number, bit: number): void {
  table[slot + 1] = (table[slot + 1] ?? 0) | bit;
}

/** Where the key is, or the empty slot where it would be. */
function slotOf(table: Int32Array, key: number): number {
  let slot = (Math.imul(key, GOLDEN) >>> (32 - SLOT_BITS)) << 1;
  for (;;) {
    const found = table[slot];
    if (found === key || found === 0) return slot;
    slot = (slot + 2) & MASK;
  }
}
