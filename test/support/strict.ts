import type { ChatMessage } from '../../src/compaction/measure.js';

/**
 * What the strictest chat templates ask of a message list, all at once. Gives the first rule that the list
 * breaks, or null when every such server would take it.
 */
export function strictViolation(messages: readonly ChatMessage[]): string | null {
  return (
    systemFirst(messages) ??
    alternation(messages) ??
    toolRuns(messages) ??
    contents(messages) ??
    (['user', 'tool'].includes(messages.at(-1)?.role ?? '')
      ? null
      : 'the last message is neither user nor tool')
  );
}

const isSystem = ({ role }: ChatMessage) => role === 'system' || role === 'developer';

function systemFirst(messages: readonly ChatMessage[]): string | null {
  const firstOther = messages.findIndex((message) => !isSystem(message));
  const late = firstOther >= 0 && messages.slice(firstOther).some(isSystem);
  return late ? 'a system message does not come first' : null;
}

function alternation(messages: readonly ChatMessage[]): string | null {
  let expected: ChatMessage['role'] = 'user';
  for (const [index, { role, tool_calls }] of messages.entries()) {
    const counts = role === 'user' || (role === 'assistant' && !tool_calls?.length);
    if (!counts) continue;
    if (role !== expected) return `message ${index} is ${role}, not ${expected}`;
    expected = role === 'user' ? 'assistant' : 'user';
  }
  return null;
}

function toolRuns(messages: readonly ChatMessage[]): string | null {
  for (let i = 0; i < messages.length; i += 1) {
    const message = messages[i];
    if (message?.role === 'tool') return `message ${i} answers no call`;
    const called = message?.role === 'assistant' ? (message.tool_calls ?? []).map(({ id }) => id ?? '') : [];
    const answered: string[] = [];
    while (called.length > 0 && messages[i + 1]?.role === 'tool') {
      i += 1;
      answered.push(messages[i]?.tool_call_id ?? '');
    }
    if (JSON.stringify([...called].sort()) !== JSON.stringify([...answered].sort())) {
      return `calls ${called.join()} are answered by ${answered.join() || 'nothing'}`;
    }
  }
  return null;
}

function contents(messages: readonly ChatMessage[]): string | null {
  for (const [index, { role, content, tool_calls }] of messages.entries()) {
    if (Array.isArray(tool_calls) && tool_calls.length === 0)
      return `message ${index} has an empty list of calls`;
    const empty = content === undefined || content === null || content === '' || content.length === 0;
    const emptyPart =
      Array.isArray(content) && content.some(({ type, text }) => type === 'text' && text === '');
    if ((empty && !(role === 'assistant' && tool_calls?.length)) || emptyPart)
      return `message ${index} is empty`;
  }
  return null;
}
