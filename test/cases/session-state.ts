import { setTimeout as delay } from 'node:timers/promises';
import { expect } from 'vitest';
import type { ChatMessage } from '../../src/compaction/measure.js';
import type { EnvironmentVariables } from '../../src/config.js';
import { type ModelStub, type StubReply, type StubScript, startModelStub } from '../support/model-stub.js';
import { type CompactionBody, modelAt, startService, type TestService } from '../support/service.js';

/** The service with a stubbed model whose answers can be changed, and what must hold after a failure. */
export interface Harness {
  readonly stub: ModelStub;
  readonly service: TestService;
  /** From now on the model answers like this. */
  answerWith(next: StubReply | StubScript): void;
}

export async function startWithModel(
  first: StubReply | StubScript,
  variables: EnvironmentVariables = {},
): Promise<Harness> {
  let current = first;
  const stub = await startModelStub((prompt, index, request) =>
    typeof current === 'function' ? current(prompt, index, request) : current,
  );
  const service = await startService(modelAt(stub.url, variables));
  return {
    stub,
    service,
    answerWith: (next) => {
      current = next;
    },
  };
}

/** A session that was compacted before: `summary` covers the first `size` conversation messages. */
export async function compactedSession(
  service: TestService,
  messages: readonly ChatMessage[],
  { summary, size }: { readonly summary: string; readonly size: number },
  fields: object = {},
): Promise<string> {
  const id = await service.session(messages, fields);
  service.sql('UPDATE sessions SET compact_summary = ?, compact_size = ? WHERE id = ?', summary, size, id);
  return id;
}

/** Everything of a session that a failed compaction must leave byte for byte as it was. */
export function stateOf(service: TestService, id: string): { session: unknown; rows: readonly unknown[] } {
  const [session] = service.sql(
    `SELECT compact_summary, compact_size, compact_count, revision, version, message_count, conversation_count,
            total_chars, current_compaction_id, status, title, metadata
     FROM sessions WHERE id = ?`,
    id,
  );
  const rows = service.sql(
    'SELECT m.* FROM messages m JOIN sessions s ON s.pk = m.session_pk WHERE s.id = ? ORDER BY m.seq',
    id,
  );
  return { session, rows };
}

export async function compactionsOf(service: TestService, id: string): Promise<CompactionBody[]> {
  const { status, body } = await service.call('GET', `/sessions/${id}/compactions`);
  expect(status).toBe(200);
  return body.data;
}

/** The newest record of a session's compactions. */
export async function lastCompaction(service: TestService, id: string): Promise<CompactionBody> {
  const [last] = await compactionsOf(service, id);
  if (last === undefined) throw new Error(`session ${id} has no compaction`);
  return last;
}

/** After a failure: the state is what it was, and a compaction with a healthy model works at once. */
export async function expectUnharmed(
  { service, stub, answerWith }: Harness,
  id: string,
  before: ReturnType<typeof stateOf>,
): Promise<void> {
  expect(stateOf(service, id)).toEqual(before);
  const requests = stub.server.requests.length;
  answerWith({ content: 'Healthy again.' });
  const { status, body } = await service.compact(id);
  expect(status).toBe(200);
  expect(body.session.compact_summary).toBe('Healthy again.');
  expect(body.compactedCount).toBeGreaterThan(0);
  expect(stub.server.requests.length).toBe(requests + 1);
  expect(stateOf(service, id).rows).toEqual(before.rows);
}

/** The quoted part of a prompt: the previous summary or the transcript; null when it has none. */
export function quotedIn(prompt: string, name: 'summary' | 'transcript'): string | null {
  return new RegExp(`<${name}-(\\w+)>\\n([\\s\\S]*)\\n</${name}-\\1>`).exec(prompt)?.[2] ?? null;
}

export function occurrences(text: string, part: string): number {
  return text.split(part).length - 1;
}

/** A door that stays shut until a test opens it: holds a model's answer back. */
export function gate(): { readonly opened: Promise<void>; open(): void } {
  let open = () => {};
  const opened = new Promise<void>((resolve) => {
    open = resolve;
  });
  return { opened, open };
}

/** Resolves when the model has got that many requests. */
export async function requestsAt(stub: ModelStub, count: number): Promise<void> {
  const deadline = performance.now() + 5_000;
  while (stub.server.requests.length < count) {
    if (performance.now() > deadline)
      throw new Error(`the model got ${stub.server.requests.length} requests`);
    await delay(2);
  }
}
