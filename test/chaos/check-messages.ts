import type { Entry, Journal } from './journal.js';
import type { Places, StoredSession } from './stored.js';

/** What clients know of their messages against what is stored: none lost, none doubled, none out of order. */
export function checkMessages(
  journal: Journal,
  sessions: readonly StoredSession[],
  places: Places,
): string[] {
  return [
    ...[...places.marks].flatMap((mark) => doubled(mark, places)),
    ...journal.sent.flatMap((sent) => sentFaults(sent, journal, places)),
    ...journal.chats.flatMap((chat) => {
      const { sessionId, mark, replyMark } = chat;
      const told = replyMark === null ? [mark] : [mark, replyMark];
      return presence({ ...chat, marks: told }, journal, places).map(
        (fault) => `chat on ${sessionId}: ${fault}`,
      );
    }),
    ...sessions.flatMap(({ id }) => orderFaults(id, journal, places)),
  ];
}

function doubled(mark: string, places: Places): string[] {
  const all = places.of(mark);
  if (all.length === 1) return [];
  // The last words of a subagent are the result of its call.
  const isResult = all[0]?.sessionId !== all[1]?.sessionId && all.some(({ role }) => role === 'tool');
  if (all.length === 2 && isResult && all.some(({ role }) => role === 'assistant')) return [];
  return [
    `${mark} is stored ${all.length} times: ${all.map(({ sessionId, seq }) => `${sessionId}/${seq}`).join(', ')}`,
  ];
}

function sentFaults(sent: Journal['sent'][number], journal: Journal, places: Places): string[] {
  const { sessionId, marks, seq } = sent;
  const faults = presence(sent, journal, places);
  const found = marks.map((mark) => places.seqIn(sessionId, mark));
  const first = found[0];
  // Results may come one by one and were counted as unknown; what was one append is one run.
  if (sent.outcome === 'done' && first != null) {
    if (found.some((place, index) => place !== first + index))
      faults.push(`${sessionId}: what was appended at once stands at ${found.join(' ')}`);
    if (seq !== null && seq !== first && !journal.mayBeGone(sent))
      faults.push(`${sessionId}: ${marks[0]} was said to be at ${seq} and is at ${first}`);
  }
  return faults;
}

/** Done: all there, unless a reset came. Refused: nothing there. Not known: all or nothing. */
function presence(
  entry: Entry & { readonly marks: readonly string[] },
  journal: Journal,
  places: Places,
): string[] {
  const { sessionId, marks, outcome } = entry;
  const there = marks.filter((mark) => places.seqIn(sessionId, mark) !== null);
  const missing = marks.filter((mark) => !there.includes(mark));
  if (outcome === 'refused' && there.length > 0) return [`${there.join(' ')} was refused and is stored`];
  if (outcome === 'done' && missing.length > 0 && !journal.mayBeGone(entry))
    return [`${missing.join(' ')} of ${sessionId} was acknowledged and is not there`];
  if (there.length > 0 && missing.length > 0)
    return [`${there.join(' ')} is there without ${missing.join(' ')}`];
  if (journal.isGone(entry, Number.POSITIVE_INFINITY) && there.length > 0)
    return [`${there.join(' ')} of ${sessionId} is there after a reset`];
  return [];
}

/** What was acknowledged before something else was sent stands before it. */
function orderFaults(sessionId: string, journal: Journal, places: Places): string[] {
  const all = journal.sent
    .filter((sent) => sent.sessionId === sessionId && sent.outcome === 'done')
    .flatMap(({ marks, start, end }) => {
      const seq = places.seqIn(sessionId, marks[0] ?? '');
      return seq === null ? [] : [{ seq, start, end, mark: marks[0] }];
    })
    .sort((a, b) => a.seq - b.seq);
  const faults: string[] = [];
  let latest = { start: 0, mark: '' as string | undefined };
  for (const { start, end, mark } of all) {
    if (end < latest.start)
      faults.push(`${sessionId}: ${mark} stands after ${latest.mark}, which was sent later`);
    if (start > latest.start) latest = { start, mark };
  }
  return faults;
}
