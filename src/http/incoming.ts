import type { ChatMessage } from '../compaction/measure.js';
import { isPercent } from '../compaction/percent.js';
import { fieldError } from '../errors.js';
import type { IncomingMessage } from '../sessions/append.js';

/** What a valid body still needs before a service can take it: the checks that JSON Schema cannot say. */

/** Pairs the messages that validation saw with their texts as they were written. */
export function incomingMessages(
  messages: readonly ChatMessage[],
  raw: readonly string[],
): IncomingMessage[] {
  if (messages.length !== raw.length) throw new RangeError('the body scan and the parser disagree');
  return messages.map((message, index) => ({ message, json: raw[index] ?? '' }));
}

export function checkedPercent(percent: number | undefined): number | null {
  if (percent === undefined) return null;
  if (!isPercent(percent))
    throw fieldError('body', '/compactCount', 'must be 1 to 99 with at most 6 decimals');
  return percent;
}

/** Metadata as JSON text; a number out of range would be written as null, so it is refused. */
export function metadataJson(metadata: object | null | undefined): string | null {
  if (metadata === null || metadata === undefined) return null;
  return JSON.stringify(metadata, (key, value: unknown) => {
    if (typeof value === 'number' && !Number.isFinite(value)) {
      throw fieldError('body', '/metadata', `holds a number out of range, under ${JSON.stringify(key)}`);
    }
    return value;
  });
}
