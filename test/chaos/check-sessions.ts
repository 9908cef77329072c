import type { Figures } from './figures.js';
import { marksIn, repeated, without } from './marks.js';
import type { SeenCall } from './model.js';
import type { Stored, StoredSession } from './stored.js';

/** What is wrong with the sessions by themselves: numbers, summaries, and what model calls were given of them. */
export function checkSessions(
  sessions: readonly StoredSession[],
  calls: ReadonlyMap<string, SeenCall>,
  figures: Figures,
): string[] {
  return sessions.flatMap((session) => [
    ...numberFaults(session),
    ...summaryFaults(session),
    ...contextFaults(session, calls, figures),
  ]);
}

function numberFaults({ id, messages, messageCount, conversationCount }: StoredSession): string[] {
  const faults: string[] = [];
  if (messages.length !== messageCount)
    faults.push(`${id} counts ${messageCount} messages and has ${messages.length}`);
  const wrong = messages.findIndex(({ seq }, index) => seq !== index);
  if (wrong >= 0) faults.push(`${id} has seq ${messages[wrong]?.seq} in place of ${wrong}`);
  const positions = messages.flatMap(({ position }) => (position === null ? [] : [position]));
  if (positions.length !== conversationCount || positions.some((position, index) => position !== index))
    faults.push(`${id} counts ${conversationCount} positions and has ${positions.join(' ')}`);
  return faults;
}

/** The summary lists, once, the messages below the pointer, but for one that is carried. */
function summaryFaults({ id, summary, size, carried, messages }: StoredSession): string[] {
  const listed = marksIn(summary ?? '');
  const folded = messages.flatMap(({ position, mark }) =>
    mark !== null && position !== null && position < size && position !== carried ? [mark] : [],
  );
  const missing = without(folded, new Set(listed));
  const foreign = without(listed, new Set(folded));
  const twice = repeated(listed);
  return [
    ...(missing.length > 0 ? [`the summary of ${id} (size ${size}) has not seen ${missing.join(' ')}`] : []),
    ...(foreign.length > 0 ? [`the summary of ${id} (size ${size}) tells of ${foreign.join(' ')}`] : []),
    ...(twice.length > 0 ? [`the summary of ${id} has ${twice.join(' ')} more than once`] : []),
  ];
}

/** The context that a stored reply answers held all messages before it, by themselves or in the summary, and no other. */
function contextFaults(
  { id, messages }: StoredSession,
  calls: ReadonlyMap<string, SeenCall>,
  figures: Figures,
): string[] {
  const faults: string[] = [];
  for (const { mark, seq, role } of messages) {
    const call = role === 'assistant' ? calls.get(mark ?? '') : undefined;
    if (call === undefined) continue;
    const before = messages.slice(0, seq);
    const held = new Set(call.seen);
    const lost = before.filter((message) => message.mark !== null && !held.has(message.mark));
    const really = lost.filter((message) => !isLateResult(messages, message));
    figures.count('checked', 'contexts of replies');
    if (really.length < lost.length) figures.count('checked', 'contexts without a late result');
    if (really.length > 0)
      faults.push(
        `the reply ${mark} of ${id} was written without ${really.map((each) => each.mark).join(' ')}`,
      );
    const foreign = without(held, new Set(before.map((message) => message.mark ?? '')));
    if (foreign.length > 0) faults.push(`the reply ${mark} of ${id} was written with ${foreign.join(' ')}`);
  }
  return faults;
}

/**
 * A result that came when other messages stood behind its call. Its call may be summarized before it, and a result
 * without a call is not sent, since no endpoint takes it: the summary that folds it is where it shows again.
 */
function isLateResult(messages: readonly Stored[], { role, seq, callIds }: Stored): boolean {
  if (role !== 'tool') return false;
  let before = seq - 1;
  while (messages[before]?.role === 'tool' || messages[before]?.position === null) before -= 1;
  return !messages[before]?.callIds.includes(callIds[0] ?? '');
}
