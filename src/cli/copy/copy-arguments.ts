import { parseArgs } from 'node:util';
import { UsageError } from '../import-arguments.js';

export const COPY_HELP = `Copies a compactd database into another one, of the same kind or the other.

  npm run copy -- --from URL --to URL [--force]

--from URL  the database that is read, as DATABASE_URL would name it: file:./data/compactd.db or
            postgres://user@host/database. It is not changed.
--to URL    the database that is written: empty, and migrated (npm run migrate). A file is made.
            If it holds the beginning of the same copy, the copy goes on where it stopped.
--force     copy even if a service is at work on --from: what is there at this moment
--help      show this

Stop the services on both first. All rows are copied as they are, then read back: the table at the
end has the number of rows and a SHA-256 of each table. Run the same command again after an
interruption. A password may be left to PGPASSWORD or ~/.pgpass.

Exit code: 0 copied and the same, 1 not the same or not finished, 2 wrong usage or refused,
130 interrupted.`;

export interface CopyArguments {
  /** Both as DATABASE_URL. */
  readonly from: string;
  readonly to: string;
  readonly force: boolean;
}

/** The arguments, or `help` when that was asked for. Throws UsageError. */
export function copyArguments(args: readonly string[]): CopyArguments | 'help' {
  const { from, to, force = false, help } = parsed(args);
  if (help === true) return 'help';
  return { from: databaseUrl('--from', from), to: databaseUrl('--to', to), force };
}

function parsed(args: readonly string[]) {
  try {
    const { values } = parseArgs({
      args: [...args],
      options: {
        from: { type: 'string' },
        to: { type: 'string' },
        force: { type: 'boolean' },
        help: { type: 'boolean', short: 'h' },
      },
    });
    return values;
  } catch (error) {
    throw new UsageError(error instanceof Error ? error.message : String(error));
  }
}

/** What is wrong with a URL is said without it: it may hold a password. */
function databaseUrl(option: string, url: string | undefined): string {
  if (url === undefined || !/^(file:|postgres(ql)?:\/\/)./.test(url)) {
    throw new UsageError(`${option} must be file: and a path, or a postgres:// URL`);
  }
  return url;
}
