import { execFileSync } from 'node:child_process';
import { copyFileSync, cpSync, mkdtempSync, rmSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('../..', import.meta.url));

/** Where a compiled service is, and how to be rid of it. */
export interface BuiltService {
  readonly folder: string;
  remove(): void;
}

/** One that is compiled already; this checkout's as a rule. */
export function builtIn(folder: string = root): BuiltService {
  return { folder, remove: () => {} };
}

/**
 * Compiles the service into a folder of its own, so that neither a build in the checkout nor a change there reaches
 * nodes that are started again in the middle of a run.
 */
export function buildService(): BuiltService {
  const folder = mkdtempSync(join(tmpdir(), 'compactd-chaos-'));
  const remove = () => rmSync(folder, { recursive: true, force: true });
  const options = ['tsc', '-p', 'tsconfig.build.json', '--outDir', join(folder, 'dist')];
  try {
    execFileSync('npx', options, { cwd: root, stdio: 'inherit' });
  } catch (error) {
    remove();
    throw error;
  }
  copyFileSync(join(root, 'package.json'), join(folder, 'package.json'));
  cpSync(join(root, 'drizzle'), join(folder, 'drizzle'), { recursive: true });
  symlinkSync(join(root, 'node_modules'), join(folder, 'node_modules'));
  return { folder, remove };
}
