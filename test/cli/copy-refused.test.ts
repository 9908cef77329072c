import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { CopyRefused } from '../../src/cli/copy/connection.js';
import { copyArguments } from '../../src/cli/copy/copy-arguments.js';
import type { CopyRun } from '../../src/cli/copy/copy-run.js';
import { copyProgressText } from '../../src/cli/copy/copy-text.js';
import { freshDatabase } from '../support/postgres.js';
import { temporaryFolder } from '../support/service.js';
import { contentOf, copy, copyHere, filledFile, hasMarker, sqlOn, watched } from './copy-support.js';
import { runScript } from './run-command.js';

const SMALL = { sessions: 2, messages: 6, chars: 10 };

/** Why the copy is refused; an empty text when it is made. */
async function refusal(from: string, to: string, change: Partial<CopyRun> = {}): Promise<string> {
  try {
    await copyHere(from, to, () => change);
    return '';
  } catch (error) {
    if (error instanceof CopyRefused) return error.message;
    throw error;
  }
}

/** Copies until the third page and no further. */
async function beginCopy(from: string, to: string): Promise<void> {
  let pages = 0;
  const run = copyHere(from, to, ({ target }) => ({
    limits: { rows: 2, bytes: 1_000 },
    target: watched(target, (operation) => {
      if (operation === 'insert') pages += 1;
      if (pages === 3) throw new Error('enough');
    }),
  }));
  await expect(run).rejects.toThrow('enough');
}

describe('a copy is refused', { timeout: 60_000 }, () => {
  it('into a database with anything in it', async () => {
    const folder = temporaryFolder();
    const first = await filledFile(join(folder, 'a.db'), SMALL);
    for (const target of [await filledFile(join(folder, 'b.db'), SMALL), await freshDatabase()]) {
      sqlOn(
        target,
        "INSERT INTO agents (tenant, name, definition, created_at, updated_at) VALUES ('t', 'n', '{}', 1, 1)",
      );
      const before = contentOf(target);
      const run = await copy(first, target);
      const full = target.startsWith('file:') ? 'sessions, messages, agents' : 'agents';
      expect(run.stderr).toBe(
        `${target} is not empty: there are rows in ${full}, and they are of no copy that could go on. ` +
          'Copy into an empty database.\n',
      );
      expect([run.code, run.stdout]).toEqual([2, '']);
      expect(contentOf(target)).toEqual(before);
      expect(hasMarker(target)).toBe(false);
    }
  });

  it('where the copy of another source has begun, and where its own source has changed since', async () => {
    const folder = temporaryFolder();
    const first = await filledFile(join(folder, 'a.db'), SMALL);
    const other = await filledFile(join(folder, 'other.db'), SMALL);
    const target = await freshDatabase();
    await beginCopy(first, target);
    const begun = contentOf(target);
    expect([begun['sessions']?.length, begun['messages']?.length]).toEqual([2, 2]);

    const of = (source: string, table: string) =>
      `${target} holds the beginning of a copy of ${first}, and ${source} has other rows in ${table}: it is ` +
      'another database, or it has changed since. Start anew with an empty database.';
    const wrong = await refusal(other, target);
    expect(wrong).toBe(of(other, 'messages'));
    sqlOn(first, "UPDATE sessions SET title = 'later' WHERE pk = 1");
    const changed = await refusal(first, target);
    expect(changed).toBe(of(first, 'sessions'));
    expect(contentOf(target)).toEqual(begun);

    // What comes after the beginning may change: none of it was copied.
    sqlOn(first, 'UPDATE sessions SET title = NULL WHERE pk = 1');
    sqlOn(first, "UPDATE messages SET body = '{}' WHERE pk = 5");
    expect(await refusal(first, target)).toBe('');
    expect(contentOf(target)).toEqual(contentOf(first));
  });

  it('where something else has written to the beginning, or another copy is under way', async () => {
    const folder = temporaryFolder();
    const first = await filledFile(join(folder, 'a.db'), SMALL);
    const target = await freshDatabase();
    await beginCopy(first, target);
    const stolen = copyHere(first, target, (run) => ({
      target: watched(run.target, (operation) => {
        if (operation === 'begin') sqlOn(target, "UPDATE compactd_copy SET key = 4 WHERE name = 'messages'");
      }),
    }));
    await expect(stolen).rejects.toThrow(`Another copy into ${target} is under way`);
    const written = await refusal(first, target);
    expect(written).toBe(
      `${target} holds the beginning of a copy, but something else has written to its messages since. ` +
        'Start anew with an empty database.',
    );
  });

  it.each(['file', 'postgres'])('of a %s that a service works on, unless that is meant', async (kind) => {
    const folder = temporaryFolder();
    const first = await filledFile(join(folder, 'a.db'), SMALL);
    const source = kind === 'file' ? first : await freshDatabase();
    if (source !== first) await copyHere(first, source);
    const soon = Date.now() + 30_000;
    sqlOn(source, "UPDATE sessions SET turn_owner = 'x', turn_expires_at = ?", soon);
    sqlOn(source, "UPDATE sessions SET lease_owner = 'y', lease_expires_at = ? WHERE pk = 1", soon);
    // This one has run out.
    sqlOn(source, "UPDATE sessions SET lease_owner = 'y', lease_expires_at = 5 WHERE pk = 2");
    const target = `file:${join(folder, 'b.db')}`;
    const run = await refusal(source, target);
    expect(run).toBe(
      `A service is at work on ${source}: 1 compaction, 2 turns. Stop it first; or copy with --force what is there ` +
        'at this moment, in which that work is half done.',
    );
    expect(hasMarker(target)).toBe(false);
    expect(await refusal(source, target, { force: true })).toBe('');
    expect(contentOf(target)).toEqual(contentOf(source));
  });

  it('of or into a database that is not migrated or not there', async () => {
    const folder = temporaryFolder();
    const first = await filledFile(join(folder, 'a.db'), SMALL);
    const bare = await freshDatabase('empty');
    const migrate = `${bare} has 0 of 3 migrations; run \`npm run migrate\` with it as DATABASE_URL first`;
    const into = await refusal(first, bare);
    expect(into).toBe(migrate);
    const from = await refusal(bare, `file:${join(folder, 'c.db')}`);
    expect(from).toBe(migrate);
    const none = join(folder, 'none.db');
    const gone = await refusal(`file:${none}`, bare);
    expect(gone).toBe(`There is no file ${none}`);
    expect(existsSync(none)).toBe(false);
    expect(existsSync(join(folder, 'c.db'))).toBe(false);
  });

  it('of rows that the target could not hold as they are', async () => {
    const folder = temporaryFolder();
    const first = await filledFile(join(folder, 'a.db'), SMALL);
    const target = await freshDatabase();
    sqlOn(first, "UPDATE messages SET body = 'a' || char(0) WHERE pk = 4");
    const nul = await refusal(first, target);
    expect(nul).toBe(
      'The row of messages with key 4 holds the character U+0000 in body, which PostgreSQL does not store. ' +
        'Take it out of the source, and run the copy again.',
    );
    for (const value of ["x'00ff'", '7.5', '9007199254740993']) {
      const column = value.startsWith('x') ? 'body' : 'chars';
      sqlOn(first, `UPDATE messages SET ${column} = ${value} WHERE pk = 4`);
      const wrong = await refusal(first, target);
      const kind = column === 'body' ? 'text' : 'integer';
      expect(wrong).toBe(
        `The row of messages with key 4 holds in ${column} what is not ${kind}, or too large a number`,
      );
      sqlOn(first, "UPDATE messages SET body = '{}', chars = 0 WHERE pk = 4");
    }
    expect(await refusal(first, target)).toBe('');
  });

  it('when its arguments are wrong, without showing a password', async () => {
    expect(copyArguments(['--from', 'file:a', '--to=postgresql://h/d', '--force'])).toEqual({
      from: 'file:a',
      to: 'postgresql://h/d',
      force: true,
    });
    expect(copyArguments(['-h'])).toBe('help');
    expect(() => copyArguments(['--from', 'file:a'])).toThrow(
      '--to must be file: and a path, or a postgres://',
    );
    expect(() => copyArguments(['--from', 'mysql://u:secret@h', '--to', 'file:b'])).toThrow(
      /^--from must be file: and a path, or a postgres:\/\/ URL$/,
    );
    const folder = temporaryFolder();
    const first = await filledFile(join(folder, 'a.db'), SMALL);
    const away = await copy(first, 'postgres://u:secret@127.0.0.1:1/d?password=secret');
    expect(away.code).toBe(1);
    expect(away.stderr).toContain('The database cannot be used: the connection failed (ECONNREFUSED)');
    expect(away.stderr).toContain('Run the same command again');
    expect(away.stderr).not.toContain('secret');
    const bare = await runScript('src/cli/copy.ts', []);
    expect(bare.code).toBe(2);
    expect(bare.stderr).toContain('npm run copy -- --from URL --to URL [--force]');
  });
});

it('progress tells the table, rows and bytes', () => {
  const state = {
    phase: 'Copying',
    table: 'messages',
    rows: 5_000,
    totalRows: 20_000,
    bytes: 1_500_000,
  } as const;
  expect(copyProgressText(state, true)).toBe(
    '[######------------------]  25%  Copying messages  5,000 of 20,000 rows  1.5 MB',
  );
  expect(copyProgressText({ ...state, rows: 20_001 }, false)).toBe(
    '100%  Copying messages  20,001 of 20,000 rows  1.5 MB',
  );
  expect(copyProgressText({ ...state, phase: 'Counting' }, true)).toBe('Counting');
});
