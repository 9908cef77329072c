import { ConfigError, loadConfig } from '../config.js';
import { createCleaner } from '../llm/redact.js';
import type { Row } from './check.js';
import { checkEmbedded } from './check-embedded.js';
import { checkEndpoint } from './check-endpoint.js';
import { DOCTOR_HELP, doctorArguments, UsageError } from './doctor-arguments.js';
import { resultTable } from './result-table.js';
import { type Role, rolesOf } from './role.js';

const print = (...lines: readonly string[]): void => void process.stdout.write(`${lines.join('\n')}\n`);

/** `npm run doctor`: checks the configured endpoints and prints what to do. Returns the exit code. */
async function main(): Promise<number> {
  const given = doctorArguments(process.argv.slice(2));
  if (given === 'help') {
    print(DOCTOR_HELP);
    return 0;
  }
  const config = loadConfig(process.env);
  for (const warning of config.warnings) print(`Warning: ${warning}`);
  const roles = rolesOf(config, process.env);
  if (roles.length === 0) {
    print('No model endpoint is configured: summaries are written by embedded/extractive', '');
    const result = await checkEmbedded(config.summaryMaxChars, given.limitMs);
    return report([{ check: 'summary', ...result }]);
  }
  const codes: number[] = [];
  for (const role of roles) {
    print(`${codes.length > 0 ? '\n' : ''}${titleOf(role)}`, '');
    codes.push(report(await checkEndpoint(role, config, given.limitMs)));
  }
  return Math.max(...codes);
}

function report(rows: readonly Row[]): number {
  print(...resultTable(rows));
  return rows.some(({ result }) => result === 'failed') ? 1 : 0;
}

/** Of the base URL only what holds no secret: people write keys into its query and its credentials. */
function titleOf({ name, endpoint }: Role): string {
  const { origin, pathname } = new URL(endpoint.baseUrl);
  return createCleaner([endpoint.apiKey ?? ''])(`${name}: ${endpoint.model} at ${origin}${pathname}`);
}

// Whoever reads the output may leave, as `head` does.
for (const stream of [process.stdout, process.stderr]) stream.on('error', () => {});

try {
  process.exitCode = await main();
} catch (error) {
  const isExpected = error instanceof UsageError || error instanceof ConfigError;
  process.stderr.write(`${error instanceof Error ? (isExpected ? error.message : error.stack) : error}\n`);
  process.exitCode = error instanceof UsageError ? 2 : 1;
}
