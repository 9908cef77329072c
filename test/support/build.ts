import { execFileSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';

/** Compiles the service once before all tests: those that start processes start what production starts. */
export default function setup(): void {
  const root = fileURLToPath(new URL('../..', import.meta.url));
  execFileSync('npm', ['run', 'build', '--silent'], { cwd: root, stdio: 'inherit' });
}
