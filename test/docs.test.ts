import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { ERROR_CATALOGUE } from '../src/errors.js';

const root = fileURLToPath(new URL('..', import.meta.url));
const read = (path: string) => readFileSync(join(root, path), 'utf8');
const pages = [
  'README.md',
  ...readdirSync(join(root, 'docs'), { recursive: true, encoding: 'utf8' })
    .filter((path) => path.endsWith('.md'))
    .map((path) => `docs/${path}`),
];

describe('the documentation', () => {
  it('lists every error code with its status', () => {
    const listed = [...read('docs/errors.md').matchAll(/^\| `([A-Z_]+)` \| (\d+) \|/gm)].map(
      ([, code, status]) => [code, Number(status)],
    );
    const catalogue = Object.entries(ERROR_CATALOGUE).map(([code, { status }]) => [code, status]);
    expect(Object.fromEntries(listed)).toEqual(Object.fromEntries(catalogue));
  });

  it.each(pages)('links only to what is there: %s', (page) => {
    const targets = [...read(page).matchAll(/\]\(([^)#:]+)(?:#[^)]*)?\)/g)].map(([, target = '']) => target);
    expect(targets.filter((target) => !existsSync(join(root, dirname(page), target)))).toEqual([]);
  });

  it('names only scripts that exist', () => {
    const { scripts }: { scripts: Record<string, string> } = JSON.parse(read('package.json'));
    const named = [...read('README.md').matchAll(/npm (?:run )?(start|test|test:browser|[a-z]+)\b/g)].map(
      ([, name = '']) => name,
    );
    expect(named.filter((name) => name !== 'ci' && name !== 'run' && !(name in scripts))).toEqual([]);
  });
});
