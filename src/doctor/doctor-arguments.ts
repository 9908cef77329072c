import { parseArgs } from 'node:util';

export const DOCTOR_HELP = `Checks the configured model endpoints: what works, what does not, and what to do about it.

  npm run doctor [-- --timeout SECONDS]

Reads the same environment variables as the service, and sends each endpoint two short chats.

--timeout SECONDS  longest time for one check, 10 by default
--help             show this

Exit code: 0 nothing failed, 1 something did or the configuration is not valid, 2 wrong usage.`;

const DEFAULT_SECONDS = 10;
const MAX_SECONDS = 3_600;

/** Thrown when the command cannot start as it was called; the message says why, for the person who called. */
export class UsageError extends Error {
  override readonly name = 'UsageError';
}

/** The arguments, or `help` when that was asked for. Throws UsageError. */
export function doctorArguments(args: readonly string[]): { readonly limitMs: number } | 'help' {
  const { values } = parsed(args);
  if (values.help === true) return 'help';
  const seconds = values.timeout === undefined ? DEFAULT_SECONDS : Number(values.timeout);
  if (!(seconds > 0 && seconds <= MAX_SECONDS)) {
    throw new UsageError(`--timeout must be a number of seconds up to ${MAX_SECONDS}`);
  }
  return { limitMs: seconds * 1_000 };
}

function parsed(args: readonly string[]) {
  try {
    return parseArgs({
      args: [...args],
      options: { timeout: { type: 'string' }, help: { type: 'boolean', short: 'h' } },
    });
  } catch (error) {
    throw new UsageError(error instanceof Error ? error.message : String(error));
  }
}
