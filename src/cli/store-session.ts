import { setTimeout as sleep } from 'node:timers/promises';
import { chunkMessages } from './message-chunks.js';
import { problemFaults, problemLine } from './problem-faults.js';
import { type Answer, field, type Method, type ServiceTarget } from './service-target.js';
import type { Fault, SessionSource } from './session-source.js';

/** Waits before a request is sent again that the service could not take at the moment, in ms. */
const RETRY_DELAYS_MS = [250, 1_000, 4_000];

/**
 * Stores one session: created with as many messages as one request carries, the others appended.
 *
 * @returns what was wrong with it, nothing when it is stored. A session that cannot be stored to the end is
 *   deleted again, so that a file can be mended and imported once more.
 */
export async function storeSession(target: ServiceTarget, source: SessionSource): Promise<Fault[]> {
  const head = source.members.join(',');
  const chunks = chunkMessages(source.messages, Buffer.byteLength(head));
  let id: string | null = null;
  let sent = 0;
  try {
    do {
      const chunk = chunks.shift() ?? [];
      const list = `"messages":[${chunk.join(',')}]`;
      const answer: Answer =
        id === null
          ? await sendPatiently(target, 'POST', '/sessions', `{${head === '' ? '' : `${head},`}${list}}`)
          : await sendPatiently(target, 'POST', `${pathOf(id)}/messages`, `{${list}}`);
      if (answer.status === 201) {
        id ??= String(field(answer.body, 'id'));
        sent += chunk.length;
      } else if (answer.status === 413 && chunk.length > 1) {
        // The service, or a proxy before it, has a lower limit than the default.
        const half = Math.ceil(chunk.length / 2);
        chunks.unshift(chunk.slice(0, half), chunk.slice(half));
      } else {
        const found =
          answer.status === 413 && sent > 0 ? tooLarge(answer, sent) : problemFaults(answer, sent);
        const faults = found.map((fault) => (source.bare ? withoutList(fault) : fault));
        return id === null ? faults : [...faults, ...(await remove(target, id))];
      }
    } while (chunks.length > 0);
    return [];
  } catch (error) {
    if (id !== null) await remove(target, id).catch(() => []);
    throw error;
  }
}

/** After all that splitting, it is this one message. */
function tooLarge(answer: Answer, index: number): Fault[] {
  return [{ pointer: `/messages/${index}`, reason: problemLine(answer) }];
}

async function remove(target: ServiceTarget, id: string): Promise<Fault[]> {
  const answer = await sendPatiently(target, 'DELETE', pathOf(id));
  if (answer.status === 204 || answer.status === 404) return [];
  return [{ pointer: '', reason: `session ${id} is left half imported: ${problemLine(answer)}` }];
}

async function sendPatiently(
  target: ServiceTarget,
  method: Method,
  path: string,
  json?: string,
): Promise<Answer> {
  let answer = await target.send(method, path, json);
  for (const delayMs of RETRY_DELAYS_MS) {
    // Such an answer says that nothing was done; others that are retryable leave it open.
    if (answer.status !== 503 || field(answer.body, 'retryable') !== true) break;
    await sleep(delayMs);
    answer = await target.send(method, path, json);
  }
  return answer;
}

function withoutList({ pointer, reason }: Fault): Fault {
  return { pointer: pointer.replace(/^\/messages/, ''), reason };
}

const pathOf = (id: string) => `/sessions/${encodeURIComponent(id)}`;
