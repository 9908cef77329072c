import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Load } from './load.js';
import { marksIn, newMark, repeated, without } from './marks.js';
import { USE_TOOL } from './model.js';
import type { Random } from './random.js';

export const AGENTS = ['plain', 'tooler', 'auto'] as const;

const filler = (random: Random) => 'One word, another word, and more. '.repeat(random.int(1, 8));
export const textWith = (mark: string, random: Random) => `${mark} ${filler(random)}`;
/** Asks for a tool now and then. */
export const requestWith = (mark: string, random: Random) =>
  `${textWith(mark, random)}${random.chance(0.4) ? USE_TOOL : ''}`;

export const anySession = ({ random, lasting, emptied }: Load) => random.pick([...lasting, ...emptied]);

/** Messages of any role in one request, with a key and repeated, or without one and once. */
export async function append(load: Load): Promise<void> {
  const { client, random, journal } = load;
  const sessionId = anySession(load);
  const messages = Array.from({ length: random.int(1, 4) }, () => someMessages(random)).flat();
  const marks = messages.map(({ content }) => marksIn(content)[0] ?? '');
  const asked = {
    kind: 'append',
    method: 'POST',
    path: `/sessions/${sessionId}/messages`,
    body: { messages },
  } as const;
  const { kind, answer, start, end } = random.chance(0.5)
    ? await client.settle({ ...asked, key: randomUUID() })
    : await client.once(asked);
  const seq = kind === 'done' ? (answer?.body.data[0]?.seq ?? null) : null;
  journal.sent.push({ sessionId, marks, outcome: kind, start, end, seq });
}

function someMessages(random: Random) {
  const said = () => textWith(newMark('sent'), random);
  switch (random.weighted({ user: 45, assistant: 35, system: 3, tools: 17 })) {
    case 'user':
      return [{ role: 'user', content: said() }];
    case 'assistant':
      return [{ role: 'assistant', content: said() }];
    case 'system':
      return [{ role: 'system', content: said() }];
    case 'tools': {
      const id = `call_${randomUUID()}`;
      const tool_calls = [{ id, type: 'function', function: { name: 'lookup', arguments: '{}' } }];
      return [
        { role: 'assistant', content: said(), tool_calls },
        { role: 'tool', tool_call_id: id, content: said() },
      ];
    }
  }
}

/** A turn with a key, repeated until it is answered; its tools are run now and then, as another turn. */
export async function chat(load: Load): Promise<void> {
  const { client, random, journal, faults } = load;
  const sessionId = anySession(load);
  const agent = random.pick(AGENTS);
  const mark = newMark('chat');
  const asked = {
    kind: 'chat',
    method: 'POST',
    path: `/agents/${agent}/chat`,
    body: { sessionId, message: requestWith(mark, random), stream: random.chance(0.3) },
    key: randomUUID(),
  } as const;
  const early = performance.now();
  // A client that goes away, and comes again.
  if (random.chance(0.08)) await client.send({ ...asked, leaveAfterMs: random.int(5, 400) });
  const { kind, answer, end } = await client.settle(asked);
  const replyMark = kind === 'done' ? (marksIn(answer?.body.message.content ?? '')[0] ?? null) : null;
  // A try before the last may have stored it.
  const outcome = kind === 'done' ? kind : 'unknown';
  journal.chats.push({ sessionId, mark, replyMark, outcome, start: early, end, key: asked.key });
  if (kind !== 'done' || answer === null) return;
  if (random.chance(0.1)) {
    const again = await client.once({ ...asked, kind: 'chat again' });
    if (again.answer?.status === 200 && again.answer.text !== answer.text)
      faults.push(`the chat ${mark} was answered ${answer.text}, and then ${again.answer.text}`);
  }
  if (answer.body.status === 'requires_action' && random.chance(0.75))
    await sendResults(load, sessionId, agent, answer.body.toolCalls);
}

async function sendResults(
  { client, random, journal }: Load,
  sessionId: string,
  agent: string,
  calls: readonly { readonly id: string }[],
): Promise<void> {
  const marks = calls.map(() => newMark('result'));
  const toolResults = calls.map(({ id }, index) => ({
    toolCallId: id,
    content: textWith(marks[index] ?? '', random),
  }));
  const { kind, start, end } = await client.settle({
    kind: 'chat results',
    method: 'POST',
    path: `/agents/${agent}/chat`,
    body: { sessionId, toolResults },
    key: randomUUID(),
  });
  journal.sent.push({ sessionId, marks, outcome: kind === 'done' ? kind : 'unknown', start, end, seq: null });
}

export async function compact(load: Load): Promise<void> {
  const { client, random } = load;
  const asked = {
    kind: 'compact',
    method: 'POST',
    path: `/sessions/${anySession(load)}/compact`,
    body: { compactCount: random.int(15, 90), keepRecent: random.int(0, 3) },
  } as const;
  if (random.chance(0.3)) await client.settle({ ...asked, key: randomUUID() });
  else await client.once(asked);
}

/** Empties a session, as a rule while it is being compacted: the summary must not come after the reset. */
export async function reset(load: Load): Promise<void> {
  const { client, random, journal, emptied } = load;
  const sessionId = random.pick(emptied);
  const path = `/sessions/${sessionId}`;
  const compacting = random.chance(0.7)
    ? client.once({ kind: 'compact', method: 'POST', path: `${path}/compact`, body: { compactCount: 80 } })
    : null;
  await sleep(random.int(0, 150));
  const tell = journal.beginReset(sessionId);
  const { kind } = await client.once({ kind: 'reset', method: 'POST', path: `${path}/reset` });
  tell(kind);
  await compacting;
  await readContext(load, sessionId);
}

/** A context holds, once, all that was acknowledged before it was asked for, whatever node is asked. */
export const read = (load: Load): Promise<void> => readContext(load, anySession(load));

async function readContext({ client, journal, faults }: Load, sessionId: string): Promise<void> {
  const { answer, start } = await client.once({
    kind: 'read',
    method: 'GET',
    path: `/sessions/${sessionId}/context`,
  });
  if (answer?.status !== 200) return;
  const held = answer.body.messages.flatMap(({ content }) => marksIn(content));
  const twice = repeated(held);
  if (twice.length > 0) faults.push(`a context of ${sessionId} had ${twice.join(' ')} more than once`);
  const all = new Set(held);
  for (const entry of journal.sent) {
    if (entry.sessionId !== sessionId) continue;
    if (entry.outcome === 'done' && entry.end < start && !journal.mayBeGone(entry)) {
      const lost = without(entry.marks, all);
      if (lost.length > 0) faults.push(`a context of ${sessionId} did not have ${lost.join(' ')}`);
    }
    if (journal.isGone(entry, start) && entry.marks.some((mark) => all.has(mark)))
      faults.push(`a context of ${sessionId} had ${entry.marks.join(' ')} after a reset`);
  }
}
