import { joinContents } from './content.js';
import { isAnswer, type WireMessage, without } from './wire-message.js';

/**
 * Templates that check that roles alternate fail on two turns of one role. Two user messages in a row become
 * one, and so do an assistant's words and what the assistant says or calls directly after them; a blank line
 * keeps their texts apart. Each tool result stays a message of its own, for it answers a call of its own.
 */
export function mergeTurns(messages: readonly WireMessage[]): readonly WireMessage[] {
  const merged: WireMessage[] = [];
  let turn: WireMessage[] = [];
  for (const message of messages) {
    const last = turn.at(-1);
    if (last !== undefined && !isOneTurn(last, message)) {
      merged.push(...mergeMessages(turn));
      turn = [];
    }
    turn.push(message);
  }
  return [...merged, ...mergeMessages(turn)];
}

function isOneTurn(first: WireMessage, second: WireMessage): boolean {
  return first.role === second.role && (first.role === 'user' || isAnswer(first));
}

/**
 * Messages as one, or none of none: all contents and all fields, with the role of the first. Where several
 * have a field the last one wins, since reasoning and provider fields belong to the calls, and only the last
 * may have calls. Names that differ are dropped rather than putting one speaker's words into another's mouth.
 *
 * All at once and not pair by pair, which would copy the text of a long run again and again.
 */
export function mergeMessages(messages: readonly WireMessage[]): readonly WireMessage[] {
  const [first, ...others] = messages;
  if (first === undefined || others.length === 0) return messages;
  let fields = first;
  for (const message of others) fields = { ...fields, ...message };
  const content = joinContents(messages.map((message) => message.content));
  const merged: WireMessage = { ...fields, role: first.role, content };
  return [others.every(({ name }) => name === first.name) ? merged : without(merged, ['name'])];
}
