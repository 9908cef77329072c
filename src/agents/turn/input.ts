import type { ChatMessage, ContentPart } from '../../compaction/measure.js';
import { AppError, fieldError } from '../../errors.js';
import type { OutstandingCall } from './outstanding-calls.js';

export type TurnContent = string | readonly ContentPart[];

/** The result of a tool call, from whoever ran the tool. */
export interface ToolResult {
  readonly toolCallId: string;
  readonly content: TurnContent;
}

/** What a turn begins or goes on with. Neither a message nor results: answer what is there already. */
export interface TurnInput {
  readonly message: TurnContent | null;
  readonly toolResults: readonly ToolResult[];
}

export const userMessage = (content: TurnContent): ChatMessage => ({ role: 'user', content });

export const toolMessage = ({ toolCallId, content }: ToolResult): ChatMessage => ({
  role: 'tool',
  tool_call_id: toolCallId,
  content,
});

/**
 * Refuses results that nothing waits for: answered already, abandoned by a later message, or never called. An id
 * that was called several times takes as many results.
 *
 * @throws AppError TOOL_CALL_CLOSED; VALIDATION_FAILED for more results of one id than there are calls of it
 */
export function checkResults(results: readonly ToolResult[], calls: readonly OutstandingCall[]): void {
  const open = calls.map(({ id }) => id);
  for (const [index, { toolCallId }] of results.entries()) {
    const at = open.indexOf(toolCallId);
    if (at >= 0) {
      open.splice(at, 1);
      continue;
    }
    if (calls.some(({ id }) => id === toolCallId)) {
      throw fieldError('body', `/toolResults/${index}/toolCallId`, 'has a result in this request already');
    }
    throw new AppError('TOOL_CALL_CLOSED', `The tool call ${toolCallId} does not wait for a result`);
  }
}
