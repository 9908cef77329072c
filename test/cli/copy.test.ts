import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { COPY_TABLES } from '../../src/cli/copy/tables.js';
import { turns, user } from '../support/messages.js';
import { freshDatabase } from '../support/postgres.js';
import { startService, type TestService, temporaryFolder } from '../support/service.js';
import { contentOf, copy, hasMarker, oddRow, sqlOn } from './copy-support.js';
import { runCommand } from './run-command.js';

/** Writes something into every table: through the service what can be, and rows of the oddest values. */
async function fill(url: string): Promise<void> {
  const service = await startService({ DATABASE_URL: url });
  await service.agent('a', { systemPrompt: 'Be brief.' });
  const chat = await service.session([{ role: 'system', content: 'S' }, ...turns(40, 300)], { id: 'chat' });
  expect((await service.compact(chat)).status).toBe(200);
  await service.call('POST', '/sessions', { id: 'keyed', messages: [user('x')] }, { 'idempotency-key': 'k' });
  await service.close();
  for (const { name } of COPY_TABLES) {
    const { columns, row } = oddRow(name, 70);
    const places = row.map(() => '?').join(', ');
    sqlOn(url, `INSERT INTO ${name} (${columns}) VALUES (${places})`, ...row);
  }
}

const answersOf = async (service: TestService) => ({
  context: (await service.call('GET', '/sessions/chat/context')).text,
  messages: (await service.call('GET', '/sessions/chat/messages?limit=200')).text,
  session: (await service.call('GET', '/sessions/chat')).text,
  compactions: (await service.call('GET', '/sessions/chat/compactions')).text,
  agent: (await service.call('GET', '/agents/a')).text,
});

describe('npm run copy', { timeout: 90_000 }, () => {
  it('takes a file to PostgreSQL and back, with every row as it is, and services go on with them', async () => {
    const folder = temporaryFolder();
    const first = `file:${join(folder, 'first.db')}`;
    const postgres = await freshDatabase();
    const last = `file:${join(folder, 'made', 'last.db')}`;
    await fill(first);
    const content = contentOf(first);
    expect(Object.values(content).map((rows) => rows.length)).toEqual([3, 43, 2, 2, 1, 1, 2]);

    const there = await runCommand('npm', [
      'run',
      '--silent',
      'copy',
      '--',
      '--from',
      first,
      '--to',
      postgres,
    ]);
    expect(there.stderr).toBe('');
    expect(there.code).toBe(0);
    const back = await copy(postgres, last);
    expect(back.stderr).toBe('');
    expect(back.code).toBe(0);

    expect(contentOf(postgres)).toEqual(content);
    expect(contentOf(last)).toEqual(content);
    expect([postgres, last].map(hasMarker)).toEqual([false, false]);
    const hashes = ({ stdout }: { stdout: string }) => stdout.split('\n').slice(0, -2);
    expect(hashes(back)).toEqual(hashes(there));
    expect(there.stdout).toMatch(/^ +messages +43 +43 +([0-9a-f]{16}) +\1 +same$/m);
    expect(there.stdout).toMatch(/\nCopied 54 rows; all are the same; \d+\.\d s\n$/);

    const services = await Promise.all(
      [first, postgres, last].map((url) => startService({ DATABASE_URL: url })),
    );
    const [before, ...others] = await Promise.all(services.map(answersOf));
    expect(before?.context).toContain('"role":"system"');
    for (const other of others) expect(other).toEqual(before);

    const compacted = await Promise.all(services.map((service) => service.compact('chat')));
    const sizes = compacted.map(({ status, body }) => [status, body.compactedCount, body.newSize]);
    expect(sizes).toEqual([sizes[0], sizes[0], sizes[0]]);
    expect(sizes[0]?.[0]).toBe(200);
    const views = await Promise.all(services.map((service) => service.view('chat')));
    expect(views[1]).toEqual(views[0]);
    expect(views[2]).toEqual(views[0]);
    // The same request with the same key is answered with what it was answered with before.
    const again = await services[1]?.call(
      'POST',
      '/sessions',
      { id: 'keyed', messages: [user('x')] },
      { 'idempotency-key': 'k' },
    );
    expect([again?.status, again?.headers['idempotency-replayed']]).toEqual([201, 'true']);
  });

  it('gives new rows keys that no row has had before, deleted ones included', async () => {
    const folder = temporaryFolder();
    const first = `file:${join(folder, 'first.db')}`;
    const last = `file:${join(folder, 'last.db')}`;
    const postgres = await freshDatabase();
    await fill(first);
    // A session and an agent that were there: their keys, 71 and more, are spent.
    const service = await startService({ DATABASE_URL: first });
    await service.session([user('gone')], { id: 'gone' });
    expect(sqlOn(first, "SELECT pk FROM sessions WHERE id = 'gone'")).toEqual([{ pk: 71 }]);
    await service.call('DELETE', '/sessions/gone');
    await service.agent('gone');
    await service.call('DELETE', '/agents/gone');
    await service.close();

    expect((await copy(first, postgres)).code).toBe(0);
    expect((await copy(postgres, last)).code).toBe(0);
    for (const url of [postgres, last]) {
      const next = await startService({ DATABASE_URL: url });
      await next.agent('new');
      await next.session([user('new')], { id: 'new' });
      await next.call('POST', '/sessions', {}, { 'idempotency-key': 'new' });
      const keyOf = (table: string, where: string) => sqlOn(url, `SELECT pk FROM ${table} WHERE ${where}`);
      expect(keyOf('sessions', "id = 'new'")).toEqual([{ pk: 72 }]);
      expect(keyOf('agents', "name = 'new'")).toEqual([{ pk: 72 }]);
      expect(keyOf('idempotency_keys', "key = 'new'")).toEqual([{ pk: 71 }]);
      expect(sqlOn(url, 'SELECT max(pk) > 70 AS above FROM messages')).toEqual([
        { above: url === last ? 1 : true },
      ]);
      await next.close();
    }
  });

  it('takes a file to another file, and an empty database', async () => {
    const folder = temporaryFolder();
    const [first, second] = [`file:${join(folder, 'a.db')}`, `file:${join(folder, 'b.db')}`];
    await fill(first);
    expect((await copy(first, second)).code).toBe(0);
    expect(contentOf(second)).toEqual(contentOf(first));

    const empty = await copy(await freshDatabase(), `file:${join(folder, 'c.db')}`);
    expect(empty.stdout).toContain('Copied 0 rows; all are the same');
    expect(empty.code).toBe(0);
  });
});
