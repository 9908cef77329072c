import { isBlank } from './content.js';
import { callsOf, type WireMessage } from './wire-message.js';

const ONWARDS: WireMessage = { role: 'user', content: '(The work goes on.)' };

/**
 * Some endpoints take an assistant message with words or with calls, but not with both. The words go into an
 * assistant message of their own before the calls, so that none are lost; reasoning and provider fields stay
 * with the calls, where they are asked for.
 *
 * Where turns must alternate, those words are a turn of the assistant, and a short user line follows it.
 */
export function textBeforeCalls(
  messages: readonly WireMessage[],
  alternate: boolean,
  empty: '' | null,
): readonly WireMessage[] {
  return messages.flatMap((message) => {
    const { content } = message;
    if (callsOf(message).length === 0 || content === undefined || isBlank(content)) return [message];
    const words: WireMessage = { role: 'assistant', content };
    const calls: WireMessage = { ...message, content: empty };
    return alternate ? [words, ONWARDS, calls] : [words, calls];
  });
}
