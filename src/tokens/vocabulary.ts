import { createReadStream } from 'node:fs';
import { createRequire } from 'node:module';
import { isBlank, isLineBreak, TokenTrie } from './token-trie.js';

/** A line per token: its bytes in base64, a space, its rank. Sorted by rank, which counting does not need. */
const FILE = 'gpt-tokenizer/data/o200k_base.tiktoken';

/** About 2 ms of work each: other requests get their turn in between. */
const CHUNK_BYTES = 32 * 1024;

let loading: Promise<TokenTrie> | undefined;

/** The o200k vocabulary, read once per process and never changed. A read that failed is tried anew by the next call. */
export function loadVocabulary(): Promise<TokenTrie> {
  loading ??= readVocabulary().catch((error: unknown) => {
    loading = undefined;
    throw error;
  });
  return loading;
}

async function readVocabulary(): Promise<TokenTrie> {
  const path = createRequire(import.meta.url).resolve(FILE);
  const trie = new TokenTrie();
  const scratch = Buffer.alloc(CHUNK_BYTES);
  let rest = '';
  for await (const chunk of createReadStream(path, { encoding: 'latin1', highWaterMark: CHUNK_BYTES })) {
    const lines = `${rest}${chunk}`.split('\n');
    rest = lines.pop() ?? '';
    for (const line of lines) {
      const written = scratch.write(line.slice(0, line.indexOf(' ')), 'base64');
      const token = scratch.subarray(0, written);
      if (!isNeverUsed(token)) trie.add(token);
    }
  }
  return trie;
}

/** The encoding parts text after its line breaks before it looks for tokens. */
function isNeverUsed(token: Uint8Array): boolean {
  return isBlank(token.at(-1)) && token.some(isLineBreak);
}
