import { execFileSync } from 'node:child_process';
import { cpSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';

/** Fails when the tables have changed and no migration was generated, or the journal's times do not rise. */
const root = fileURLToPath(new URL('..', import.meta.url));
const folder = mkdtempSync(join(tmpdir(), 'compactd-migrations-'));
try {
  const out = join(folder, 'sqlite');
  cpSync(join(root, 'drizzle/sqlite'), out, { recursive: true });
  // drizzle-kit takes relative paths only, and ends with 0 whatever happens: its words are the result.
  const options = [
    '--dialect',
    'sqlite',
    '--schema',
    'src/db/schema.sqlite.ts',
    '--out',
    relative(root, out),
  ];
  const said = execFileSync('npx', ['drizzle-kit', 'generate', ...options], { cwd: root, encoding: 'utf8' });
  if (!said.includes('No schema changes'))
    fail(`the tables have changed: run \`npm run migrations\`\n${said}`);
  const journal: { entries: { when: number; tag: string }[] } = JSON.parse(
    readFileSync(join(root, 'drizzle/sqlite/meta/_journal.json'), 'utf8'),
  );
  for (const [index, { when, tag }] of journal.entries.entries()) {
    const previous = journal.entries[index - 1];
    if (previous !== undefined && when <= previous.when) fail(`${tag} is dated before ${previous.tag}`);
  }
} finally {
  rmSync(folder, { recursive: true });
}

function fail(reason: string): void {
  process.stderr.write(`drizzle/sqlite: ${reason}\n`);
  process.exitCode = 1;
}
