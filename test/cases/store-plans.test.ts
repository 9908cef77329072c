import Database from 'better-sqlite3';
import { expect, it, onTestFinished, vi } from 'vitest';
import { calls, result, system, turns, user } from '../support/messages.js';
import type { TestService } from '../support/service.js';
import { describeOnSqlite } from '../support/tested-store.js';
import { compactionsOf, startWithModel } from './session-state.js';

/** Collects the statements that the service prepares, from now to the end of the test. */
function recordStatements(): ReadonlySet<string> {
  const texts = new Set<string>();
  const { prepare } = Database.prototype;
  const spy = vi.spyOn(Database.prototype, 'prepare').mockImplementation(function (
    this: Database.Database,
    text,
  ) {
    texts.add(text);
    return prepare.call(this, text);
  });
  onTestFinished(() => spy.mockRestore());
  return texts;
}

/** How SQLite would run a statement, line by line. */
function planOf(connection: Database.Database, text: string): string[] {
  const parameters = Array.from({ length: text.split('?').length - 1 }, () => null);
  return connection
    .prepare<unknown[], { detail: string }>(`EXPLAIN QUERY PLAN ${text}`)
    .all(...parameters)
    .map(({ detail }) => detail);
}

/** Everything that today's routes do, once. */
async function useAll(service: TestService): Promise<void> {
  await service.agent('guide', { subagents: [await service.agent('clerk')] });
  await service.agent('clerk', { description: 'Looks things up.' });
  expect((await service.call('DELETE', '/agents/clerk')).status).toBe(409);
  await service.call('GET', '/agents?limit=1');
  const group = [user('look'), calls(['c1', 'c2']), result('c1', 'one'), result('c2', 'two')];
  const id = await service.session([system('Be brief.'), ...turns(300, 100), ...group, ...turns(3, 100)], {
    agent: 'guide',
  });
  await service.call('POST', `/sessions/${id}/messages`, {
    messages: [result('c3', 'late'), ...turns(2, 10)],
  });
  await service.compact(id, { dryRun: true, keepRecent: 6 });
  await service.compact(id);
  await service.compact(id, { keepRecent: 4, compactCount: 99 });
  await service.view(id);
  await service.messages(id);
  await service.call('GET', `/sessions/${id}/messages?order=desc&before=20&after=5`);
  await service.call('GET', '/sessions?limit=1');
  await service.call('GET', '/sessions?agent=guide&status=open');
  expect((await compactionsOf(service, id)).length).toBe(2);
  await service.call('PATCH', `/sessions/${id}`, { title: 'Trip' });
  await service.call('POST', `/sessions/${id}/close`);
  await service.call('POST', `/sessions/${id}/reopen`);
  await service.call('POST', `/sessions/${id}/reset`);
  await service.call('DELETE', `/sessions/${id}`);
  await service.call('DELETE', '/agents/guide');
}

describeOnSqlite('no statement of the service', 'its query plans', () => {
  it('reads a whole table, or sorts what an index has in order', async () => {
    const texts = recordStatements();
    const { service } = await startWithModel({ content: 'S1' });
    await useAll(service);
    const connection = new Database(service.file, { readonly: true });
    onTestFinished(() => void connection.close());

    const looked = [...texts].filter(
      (text) => /^\s*(select|update|delete)\b/i.test(text) && /"(sessions|messages|compactions)"/.test(text),
    );
    const bad = looked.flatMap((text) =>
      planOf(connection, text)
        .filter((step) => /\bSCAN (sessions|messages|compactions)\b|TEMP B-TREE/.test(step))
        .map((step) => ({ step, text })),
    );

    expect(looked.length).toBeGreaterThan(20);
    expect(bad).toEqual([]);
  });

  it('that lists sessions touches messages', async () => {
    const { service } = await startWithModel({ content: 'S1' });
    await service.session(turns(10, 100));
    const texts = recordStatements();
    await service.call('GET', '/sessions');
    await service.call('GET', '/sessions?agent=guide');
    expect(texts.size).toBeGreaterThan(0);
    expect([...texts].filter((text) => text.includes('"messages"'))).toEqual([]);
  });

  it('finds system messages or a place in the running total but by the index made for it', async () => {
    const texts = recordStatements();
    const { service } = await startWithModel({ content: 'S1' });
    await useAll(service);
    const connection = new Database(service.file, { readonly: true });
    onTestFinished(() => void connection.close());
    const plansOf = (part: RegExp) =>
      [...texts].filter((text) => part.test(text)).map((text) => planOf(connection, text).join(' | '));

    const system = plansOf(/^select .*"position" is null/i);
    const totals = plansOf(/^select .*"running_total" >= \?/i);
    expect(system.length).toBeGreaterThan(0);
    expect(system.filter((plan) => !plan.includes('USING INDEX messages_session_system'))).toEqual([]);
    expect(totals.length).toBeGreaterThan(0);
    expect(totals.filter((plan) => !/USING COVERING INDEX messages_session_total/.test(plan))).toEqual([]);
  });
});

describeOnSqlite('foreign keys', 'its query plans', () => {
  it('are found by an index on the child, so that deleting one session does not read the others', async () => {
    const { service } = await startWithModel({ content: 'S1' });
    const connection = new Database(service.file, { readonly: true });
    onTestFinished(() => void connection.close());
    for (const table of ['messages', 'compactions']) {
      const [step = ''] = planOf(connection, `SELECT 1 FROM ${table} WHERE session_pk = ?`);
      expect(step).toContain(`SEARCH ${table} USING COVERING INDEX`);
    }
  });
});
