import { setTimeout as sleep } from 'node:timers/promises';
import { problemLine } from '../src/cli/problem-faults.js';
import { field, type Method, ServiceGone, type ServiceTarget } from '../src/cli/service-target.js';

/** The service refused; the message is the one line to show. */
export class DemoRefused extends Error {
  override readonly name = 'DemoRefused';
}

export interface DemoStep {
  readonly folded: number;
  readonly compactSize: number;
  /** Chars of the open context; null when the step found nothing to fold. */
  readonly charsBefore: number | null;
  readonly charsAfter: number | null;
  readonly contextMessages: number;
  /** Who wrote the summary; null when nobody had to. */
  readonly model: string | null;
}

/** Asks until the service is ready; it has said that it listens, so this is once or twice. */
export async function waitUntilReady(service: ServiceTarget): Promise<void> {
  for (let attempt = 1; ; attempt += 1) {
    try {
      await ask(service, 'GET', '/readyz');
      return;
    } catch (error) {
      if (attempt === 50 || !(error instanceof ServiceGone || error instanceof DemoRefused)) throw error;
      await sleep(100);
    }
  }
}

export async function createSession(service: ServiceTarget, json: string): Promise<string> {
  return String(field(await ask(service, 'POST', '/sessions', json), 'id'));
}

/** One compaction that leaves the newest messages out, and the context that it leaves. */
export async function compactOnce(service: ServiceTarget, id: string, keepRecent: number): Promise<DemoStep> {
  const result = await ask(service, 'POST', `/sessions/${id}/compact`, JSON.stringify({ keepRecent }));
  const record = field(result, 'compaction');
  return {
    folded: Number(field(result, 'compactedCount')),
    compactSize: Number(field(result, 'newSize')),
    charsBefore: numberOrNull(field(record, 'chars_before')),
    charsAfter: numberOrNull(field(record, 'chars_after')),
    contextMessages: (await contextMessages(service, id)).length,
    model: textOrNull(field(record, 'model')),
  };
}

export async function readSession(service: ServiceTarget, id: string) {
  const session = await ask(service, 'GET', `/sessions/${id}`);
  return {
    title: textOrNull(field(session, 'title')),
    summary: textOrNull(field(session, 'compact_summary')),
    messageCount: Number(field(session, 'message_count')),
    compactSize: Number(field(session, 'compact_size')),
  };
}

/** The roles of the context in order; the message that carries the summary says so. */
export async function contextRoles(service: ServiceTarget, id: string): Promise<string[]> {
  return (await contextMessages(service, id)).map((message) => {
    const carriesSummary = textOrNull(field(message, 'content'))?.startsWith(
      '[Summary of previous conversation]',
    );
    return `${field(message, 'role')}${carriesSummary === true ? ' (summary)' : ''}`;
  });
}

async function contextMessages(service: ServiceTarget, id: string): Promise<readonly unknown[]> {
  const messages = field(await ask(service, 'GET', `/sessions/${id}/context`), 'messages');
  return Array.isArray(messages) ? messages : [];
}

async function ask(service: ServiceTarget, method: Method, path: string, json?: string): Promise<unknown> {
  const answer = await service.send(method, path, json);
  if (answer.status >= 400) throw new DemoRefused(`${method} ${path}: ${problemLine(answer)}`);
  return answer.body;
}

const numberOrNull = (value: unknown) => (typeof value === 'number' ? value : null);
const textOrNull = (value: unknown) => (typeof value === 'string' ? value : null);
