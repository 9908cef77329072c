import type { ChatMessage } from '../../compaction/measure.js';
import { AppError } from '../../errors.js';
import type { Completion, ToolCall } from '../../llm/outcome.js';

/**
 * A model's reply as the message that is stored. Half a tool call is never stored: somebody would run it. A reply
 * with nothing in it is refused as well, since endpoints refuse it when it comes back in the history.
 *
 * @throws AppError REPLY_TRUNCATED, EMPTY_REPLY
 */
export function replyMessage(reply: Completion): ChatMessage {
  const { text, refusal, toolCalls, finishReason, reasoning } = reply;
  if (toolCalls.length > 0 && finishReason === 'length' && toolCalls.some(isHalf)) {
    throw new AppError('REPLY_TRUNCATED', 'The output limit cut the reply inside a tool call');
  }
  if (toolCalls.length === 0 && text.trim() === '' && refusal === null) {
    throw new AppError('EMPTY_REPLY', emptyDetail(finishReason));
  }
  if (toolCalls.some(({ name }) => name === '')) {
    throw new AppError('EMPTY_REPLY', 'The model called a tool without saying which');
  }
  return {
    role: 'assistant',
    content: text === '' ? null : text,
    ...(refusal === null ? {} : { refusal }),
    // Some vendors refuse a tool round whose reasoning does not come back with it.
    ...(reasoning === undefined ? {} : { reasoning_content: reasoning }),
    ...(toolCalls.length === 0
      ? {}
      : {
          tool_calls: toolCalls.map(({ id, name, arguments: args, extra }) => ({
            ...extra,
            id,
            type: 'function',
            function: { name, arguments: args },
          })),
        }),
  };
}

/** Within one reply an id that comes again gets a number behind it, the same whenever it is made. */
export function withOwnIds(calls: readonly ToolCall[]): ToolCall[] {
  const taken = new Set<string>();
  return calls.map((call) => {
    let { id } = call;
    for (let n = 2; taken.has(id); n += 1) id = `${call.id}_${n}`;
    taken.add(id);
    return { ...call, id };
  });
}

function isHalf({ arguments: args }: { readonly arguments: string }): boolean {
  try {
    JSON.parse(args);
    return false;
  } catch {
    return true;
  }
}

function emptyDetail(finishReason: string | null): string {
  const cause = finishReason === null ? '' : ` (finish_reason ${finishReason})`;
  return `The model answered with neither text nor a tool call${cause}`;
}
