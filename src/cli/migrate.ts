import { loadConfig } from '../config.js';
import { migrateStore, storeStatus } from '../db/migrate-store.js';

/**
 * `npm run migrate`: brings the database of DATABASE_URL to the newest schema. `--status` only says what it has, and
 * ends with 1 when something is missing.
 */
async function main(args: readonly string[]): Promise<number> {
  const unknown = args.find((arg) => arg !== '--status');
  if (unknown !== undefined) throw new Error(`Unknown argument ${unknown}; there is only --status`);
  const config = loadConfig(process.env);
  if (args.includes('--status')) {
    const { applied, missing } = await storeStatus(config);
    for (const { tag } of applied) say(`applied  ${tag}`);
    for (const { tag } of missing) say(`missing  ${tag}`);
    return missing.length === 0 ? 0 : 1;
  }
  const applied = await migrateStore(config);
  for (const { tag } of applied) say(`applied  ${tag}`);
  if (applied.length === 0) say('Nothing to do: the database is at the newest migration.');
  return 0;
}

function say(line: string): void {
  process.stdout.write(`${line}\n`);
}

main(process.argv.slice(2)).then(
  (code) => {
    process.exitCode = code;
  },
  (error: unknown) => {
    process.stderr.write(`${error instanceof Error ? error.message : String(error)}\n`);
    process.exitCode = 1;
  },
);
