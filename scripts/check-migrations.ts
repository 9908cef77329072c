import { execFileSync } from 'node:child_process';
import { cpSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';

interface Journal {
  readonly entries: readonly { readonly when: number; readonly tag: string }[];
}

/**
 * Fails when the tables have changed and no migration was generated, when a journal's times do not rise, or when one
 * dialect has a migration that the other has not.
 */
const root = fileURLToPath(new URL('..', import.meta.url));
const tags = [
  check('sqlite', 'src/db/schema.sqlite.ts'),
  check('postgresql', 'src/db/schema.postgres.ts'),
].map((journal) => journal.entries.map(({ tag }) => tag).join());
if (tags[0] !== tags[1]) fail('drizzle', `the dialects differ:\n${tags.join('\n')}`);

function check(dialect: string, schema: string): Journal {
  const folder = mkdtempSync(join(tmpdir(), 'compactd-migrations-'));
  const place = `drizzle/${dialect}`;
  try {
    const out = join(folder, dialect);
    cpSync(join(root, place), out, { recursive: true });
    // drizzle-kit takes relative paths only, and ends with 0 whatever happens: its words are the result.
    const options = ['--dialect', dialect, '--schema', schema, '--out', relative(root, out)];
    const said = execFileSync('npx', ['drizzle-kit', 'generate', ...options], {
      cwd: root,
      encoding: 'utf8',
    });
    if (!said.includes('No schema changes'))
      fail(place, `the tables have changed: run \`npm run migrations\`\n${said}`);
    const journal: Journal = JSON.parse(readFileSync(join(root, place, 'meta/_journal.json'), 'utf8'));
    for (const [index, { when, tag }] of journal.entries.entries()) {
      const previous = journal.entries[index - 1];
      if (previous !== undefined && when <= previous.when)
        fail(place, `${tag} is dated before ${previous.tag}`);
    }
    return journal;
  } finally {
    rmSync(folder, { recursive: true });
  }
}

function fail(where: string, reason: string): void {
  process.stderr.write(`${where}: ${reason}\n`);
  process.exitCode = 1;
}
