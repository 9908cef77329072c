import { existsSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import type { ChatMessage } from '../../src/compaction/measure.js';

export interface Conversation {
  readonly id: string;
  readonly messages: readonly ChatMessage[];
}

const file = (path: string) => fileURLToPath(new URL(path, import.meta.url));

/**
 * The bundled conversation, and those of a folder of real ones when it is there: they are not part of the
 * repository. REPLAY_DATA names another folder; a file holds one conversation, or one per line.
 */
export function conversations(): Conversation[] {
  const folder = process.env['REPLAY_DATA'] ?? file('../../../shared/data');
  const real = ['airline-support.jsonl', 'coding-long.json']
    .map((name) => `${folder}/${name}`)
    .filter(existsSync);
  if (real.length === 0)
    process.stderr.write(`replay: no real conversations in ${folder}, only the bundled one\n`);
  return [file('../../examples/ferry-booking.json'), ...real].flatMap((path) => {
    const text = readFileSync(path, 'utf8');
    const documents = path.endsWith('.jsonl') ? text.split('\n').filter((line) => line !== '') : [text];
    return documents.map((document): Conversation => JSON.parse(document));
  });
}
