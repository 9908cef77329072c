import { isBlank, joinContents } from './content.js';
import { isAnswer, isSystem, type WireContent, type WireMessage } from './wire-message.js';

const ARRIVED =
  '[The result of an earlier tool call has come in. It stands in its place, directly after that call.]';
const UNASKED = '[Tool result that answers no open call:]';

/**
 * A list that ends with tool results asks the model to go on with them. When none of them stays there, because
 * they were moved to a call far before or answer no call, and an assistant's words would come last, then most
 * endpoints refuse the list or continue those words. So a user message takes the place of these results: it
 * tells of a moved one, and quotes one that has no other place. Gives that message, or nothing.
 */
export function trailingResults(
  messages: readonly WireMessage[],
  placed: readonly WireMessage[],
  homes: ReadonlyMap<number, number>,
): readonly WireMessage[] {
  if (messages.findLast(isTurn)?.role !== 'tool' || !endsWithAnswer(placed)) return [];
  const start = messages.findLastIndex((message) => isTurn(message) && message.role !== 'tool') + 1;
  const told: (WireContent | undefined)[] = [];
  for (const [index, { role, content }] of messages.entries()) {
    if (index < start || role !== 'tool') continue;
    if (!homes.has(index)) told.push(UNASKED, content);
    else if (!told.includes(ARRIVED)) told.push(ARRIVED);
  }
  return [{ role: 'user', content: joinContents(told) }];
}

function endsWithAnswer(messages: readonly WireMessage[]): boolean {
  const last = messages.findLast(isTurn);
  return last !== undefined && isAnswer(last);
}

/** System messages are no turns, and neither are empty words, which are dropped later. */
function isTurn(message: WireMessage): boolean {
  return !isSystem(message) && !(isAnswer(message) && isBlank(message.content));
}
