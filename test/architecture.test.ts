import { readdirSync, readFileSync } from 'node:fs';
import { dirname, join, relative, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';

const root = fileURLToPath(new URL('../src', import.meta.url));
const files = readdirSync(root, { recursive: true, encoding: 'utf8' }).filter((file) => file.endsWith('.ts'));

/** What a file imports: `folder/file` for our own modules, the package's name for others. */
function importsOf(file: string): string[] {
  const source = readFileSync(join(root, file), 'utf8');
  return [...source.matchAll(/^(?:import|export) [^;=]*?from '([^']+)';$/gm)].map(([, target = '']) =>
    target.startsWith('.') ? relative(root, resolve(root, dirname(file), target)) : target,
  );
}

const folderOf = (path: string) => (path.includes('/') ? (path.split('/')[0] ?? '') : '');

/** Folders of ours that each folder may import from. Files at the top of src may import anything. */
const ALLOWED: Readonly<Record<string, readonly string[]>> = {
  http: ['http', 'agents', 'idempotency', 'compaction', 'sessions', 'db', 'json', 'llm', ''],
  agents: ['agents', 'sessions', 'compaction', 'idempotency', 'db', 'llm', 'tokens', ''],
  idempotency: ['idempotency', 'db', ''],
  sessions: ['sessions', 'compaction', 'idempotency', 'db', 'llm', ''],
  compaction: ['compaction', 'idempotency', 'db', 'llm', ''],
  summarizer: ['summarizer', 'compaction', 'llm', ''],
  db: ['db', ''],
  llm: ['llm'],
  tokens: ['tokens', 'compaction'],
  json: ['json'],
  cli: ['cli', 'json', 'compaction', 'db', ''],
  doctor: ['doctor', 'cli', 'compaction', 'llm', 'summarizer', ''],
};

/** Top-level modules that hold no service logic: any folder may use them. */
const SHARED = ['errors.js', 'ids.js', 'logger.js'];

/** Programs of their own: like files at the top of src, they may use any top-level module and package. */
const TOOLS = ['cli', 'doctor'];

const PACKAGES: Readonly<Record<string, readonly RegExp[]>> = {
  http: [/^fastify/, /^@fastify\//, /^typebox/, /^openapi-types$/],
  agents: [/^typebox/],
  db: [/^drizzle-orm/, /^better-sqlite3$/, /^pg$/],
  llm: [/^undici$/, /^eventsource-parser/],
};

describe('dependencies', () => {
  it('point inward', () => {
    const wrong = files.flatMap((file) =>
      importsOf(file)
        .filter((target) => target.endsWith('.js'))
        .filter((target) => {
          const from = folderOf(file);
          if (from === '') return false;
          if (folderOf(target) !== '') return !ALLOWED[from]?.includes(folderOf(target));
          return (
            !SHARED.includes(target) &&
            !TOOLS.includes(from) &&
            !(from === 'http' && target === 'services.js')
          );
        })
        .map((target) => `${file} -> ${target}`),
    );
    expect(wrong).toEqual([]);
  });

  it('keep frameworks where they belong', () => {
    const wrong = files.flatMap((file) =>
      importsOf(file)
        .filter((target) => !target.endsWith('.js') && !target.startsWith('node:'))
        .filter((target) => {
          const from = folderOf(file);
          if (from === '' || TOOLS.includes(from)) return false;
          return !(PACKAGES[from] ?? []).some((allowed) => allowed.test(target));
        })
        .map((target) => `${file} -> ${target}`),
    );
    expect(wrong).toEqual([]);
  });

  it('are looked at in every file', () => {
    expect(files.length).toBeGreaterThan(80);
    expect(importsOf('compaction/service.ts')).toContain('db/store.js');
  });
});
