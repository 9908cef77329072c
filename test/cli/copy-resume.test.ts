import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { freshDatabase } from '../support/postgres.js';
import { temporaryFolder } from '../support/service.js';
import {
  CUT_OFF,
  contentOf,
  copy,
  copyHere,
  filledFile,
  hasEnded,
  hasMarker,
  killedCopy,
  sqlOn,
  watched,
} from './copy-support.js';

/** Messages that the target has so far, committed. */
function copiedMessages(url: string): number {
  try {
    const [row] = sqlOn(url, 'SELECT count(*) AS count FROM messages');
    return Number(JSON.parse(JSON.stringify(row)).count);
  } catch {
    // There is no such file or table yet.
    return 0;
  }
}

describe('a copy that ends before its end', { timeout: 120_000 }, () => {
  it('goes on where kill -9 stopped it, in both directions', async () => {
    const folder = temporaryFolder();
    const messages = 30_000;
    const first = await filledFile(join(folder, 'first.db'), { sessions: 50, messages, chars: 1_000 });
    const last = `file:${join(folder, 'last.db')}`;
    const postgres = await freshDatabase();
    const content = contentOf(first);
    for (const [from, to] of [
      [first, postgres],
      [postgres, last],
    ] as const) {
      // More than once: also a copy that went on is killed.
      for (const enough of [1, messages / 2]) {
        expect(await killedCopy(from, to, () => copiedMessages(to) >= enough)).toBe(true);
        expect(copiedMessages(to)).toBeGreaterThanOrEqual(enough);
        expect(copiedMessages(to)).toBeLessThan(messages);
        expect(hasMarker(to)).toBe(true);
      }
      const there = copiedMessages(to) + 50;
      const end = await copy(from, to);
      expect(end.stderr).toBe('');
      expect(end.stdout).toMatch(/^ +messages +30,000 +30,000 +([0-9a-f]{16}) +\1 +same$/m);
      expect(end.stdout).toContain(
        `Copied 30,050 rows, ${there.toLocaleString('en-US')} of them in an earlier run; all are the same; `,
      );
      expect(end.code).toBe(0);
      expect(contentOf(to)).toEqual(content);
      expect(hasMarker(to)).toBe(false);
    }
  });

  it('goes on from every step at which it can be cut off', async () => {
    const folder = temporaryFolder();
    const first = await filledFile(join(folder, 'a.db'), { sessions: 3, messages: 7, chars: 10 });
    const target = `file:${join(folder, 'b.db')}`;
    const content = contentOf(first);
    const limits = { rows: 2, bytes: 1_000 };
    let cuts = 0;
    for (let steps = 1; ; steps += 1) {
      let left = steps;
      const run = copyHere(first, target, (given) => ({
        limits,
        target: watched(given.target, () => {
          // Nothing works any more, as for a process that is gone.
          if (left <= 0) throw new Error(CUT_OFF);
          left -= 1;
        }),
      }));
      if (await hasEnded(run)) break;
      cuts += 1;
    }
    expect(cuts).toBeGreaterThan(40);
    expect(contentOf(target)).toEqual(content);
    expect(hasMarker(target)).toBe(false);
  });

  it('goes on from each statement that PostgreSQL did not get', async () => {
    const folder = temporaryFolder();
    const first = await filledFile(join(folder, 'a.db'), { sessions: 3, messages: 7, chars: 10 });
    const content = contentOf(first);
    for (const operation of ['insert', 'commit', 'query', 'keepKeysAbove', 'beginSnapshot', 'begin']) {
      const target = await freshDatabase();
      for (let at = 1; ; at += operation === 'query' ? 7 : 3) {
        let left = at;
        const cut = (given: string) => {
          if (given === operation) left -= 1;
          if (left <= 0) throw new Error(CUT_OFF);
        };
        const run = copyHere(first, target, (given) => ({
          limits: { rows: 2, bytes: 1_000 },
          target: watched(given.target, cut),
        }));
        if (await hasEnded(run)) break;
      }
      expect(contentOf(target)).toEqual(content);
      expect(hasMarker(target)).toBe(false);
    }
  });

  it('says so when it was interrupted, and keeps what it has', async () => {
    const folder = temporaryFolder();
    const first = await filledFile(join(folder, 'a.db'), { sessions: 2, messages: 6, chars: 10 });
    const target = await freshDatabase();
    const stop = new AbortController();
    const run = copyHere(first, target, (given) => ({
      limits: { rows: 2, bytes: 1_000 },
      signal: stop.signal,
      target: watched(given.target, (operation) => {
        if (operation === 'insert') stop.abort();
      }),
    }));
    await expect(run).rejects.toMatchObject({ name: 'AbortError' });
    expect(sqlOn(target, 'SELECT name, key, row_count FROM compactd_copy WHERE key > 0')).toEqual([
      { name: 'sessions', key: 2, row_count: 2 },
    ]);
    const end = await copyHere(first, target);
    expect(end.resumedRows).toBe(2);
    expect(contentOf(target)).toEqual(contentOf(first));
  });
});

describe('a copy is of one state', { timeout: 60_000 }, () => {
  it.each(['file', 'postgres'])('of a %s that is written to meanwhile, and says so', async (kind) => {
    const folder = temporaryFolder();
    const first = await filledFile(join(folder, 'a.db'), { sessions: 2, messages: 20, chars: 10 });
    const source = kind === 'file' ? first : await freshDatabase();
    if (source !== first) await copyHere(first, source);
    const target = `file:${join(folder, 'b.db')}`;
    const content = contentOf(source);
    let writes = 0;
    const result = await copyHere(source, target, (run) => ({
      limits: { rows: 3, bytes: 1_000 },
      target: watched(run.target, (operation) => {
        if (operation !== 'insert') return;
        writes += 1;
        sqlOn(source, "UPDATE sessions SET title = 'changed'");
        sqlOn(source, 'DELETE FROM messages WHERE pk = 20');
      }),
    }));
    expect(writes).toBe(8);
    expect(result.changed).toEqual(['messages']);
    expect(contentOf(target)).toEqual(content);
    expect(contentOf(source)).not.toEqual(content);
  });

  it('reads back what it wrote, and does not end where that is not the same', async () => {
    const folder = temporaryFolder();
    const first = await filledFile(join(folder, 'a.db'), { sessions: 2, messages: 5, chars: 10 });
    const target = await freshDatabase();
    const spoil = (operation: string) => {
      if (operation === 'commit') sqlOn(target, "UPDATE messages SET body = '{}' WHERE pk = 3");
    };
    const { tables } = await copyHere(first, target, (run) => ({ source: watched(run.source, spoil) }));
    const different = tables.filter((table) => table.source.sha256 !== table.target.sha256);
    expect(different.map(({ name, source, target: read }) => [name, source.rows, read.rows])).toEqual([
      ['messages', 5, 5],
    ]);
    const again = await copy(first, target);
    expect(again.stdout).toMatch(/^ +messages +5 +5 +[0-9a-f]{16} +[0-9a-f]{16} +DIFFERENT$/m);
    expect(again.stderr).toBe(
      'The copy is NOT the same as its source: something else has written to it. Start anew.\n',
    );
    expect(again.code).toBe(1);
    expect(hasMarker(target)).toBe(true);
  });
});
