import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { freshDatabase } from '../support/postgres.js';
import { temporaryFolder } from '../support/service.js';
import { runScript } from './run-command.js';

const migrate = (databaseUrl: string, ...args: string[]) =>
  runScript('src/cli/migrate.ts', args, { env: { DATABASE_URL: databaseUrl } });

describe('npm run migrate', () => {
  it.each([
    ['SQLite', async () => `file:${join(temporaryFolder(), 'data', 'compactd.db')}`],
    ['PostgreSQL', () => freshDatabase('empty')],
  ])('says what is missing, brings it, and has nothing to do after: %s', async (_, database) => {
    const url = await database();
    const before = await migrate(url, '--status');
    const tags = [...before.stdout.matchAll(/^missing {2}(\S+)$/gm)].map(([, tag]) => tag);
    expect(tags[0]).toBe('0000_sessions_messages_compactions');
    expect([before.code, before.stdout, before.stderr]).toEqual([
      1,
      tags.map((tag) => `missing  ${tag}\n`).join(''),
      '',
    ]);
    const applied = tags.map((tag) => `applied  ${tag}\n`).join('');
    expect(await migrate(url)).toEqual({ code: 0, stdout: applied, stderr: '' });
    expect(await migrate(url, '--status')).toEqual({ code: 0, stdout: applied, stderr: '' });
    expect(await migrate(url)).toEqual({
      code: 0,
      stdout: 'Nothing to do: the database is at the newest migration.\n',
      stderr: '',
    });
  });

  it('says in one line what is wrong', async () => {
    expect(await migrate('postgres://u:secret@127.0.0.1:1/d')).toEqual({
      code: 1,
      stdout: '',
      stderr: 'The database cannot be used: the connection failed (ECONNREFUSED)\n',
    });
    expect(await migrate('file:x.db', '--fast')).toEqual({
      code: 1,
      stdout: '',
      stderr: 'Unknown argument --fast; there is only --status\n',
    });
  });
});
