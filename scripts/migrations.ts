import { execFileSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';

/** Generates the migrations of both dialects from the tables: `npm run migrations -- --name what_changes`. */
for (const dialect of ['sqlite', 'postgresql']) {
  execFileSync('npx', ['drizzle-kit', 'generate', ...process.argv.slice(2)], {
    cwd: fileURLToPath(new URL('..', import.meta.url)),
    env: { ...process.env, DIALECT: dialect },
    stdio: 'inherit',
  });
}
