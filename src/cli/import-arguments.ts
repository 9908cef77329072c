import { parseArgs } from 'node:util';

export const IMPORT_HELP = `Imports conversations into compactd.

  npm run import -- FILE [--url URL]

FILE  JSON or JSON Lines; - reads standard input. JSON is one session, a list of messages (one
      session), or a list of sessions. JSON Lines has one of these per line. A session is
      {"id"?, "title"?, "metadata"?, "agent"?, "compactCount"?, "messages": [...]}
      with messages in OpenAI chat format; they are stored word for word.

--url URL  send to a running service, such as http://127.0.0.1:5050. Without it the configured
           database (DATABASE_URL) is opened, whether or not a service has it open too.
--help     show this

A session that cannot be stored is reported by its line (in a JSON list: its element, from 1) and
left out as a whole; the others are kept. A file named .jsonl or .ndjson is always read by lines.

Exit code: 0 all imported, 1 something was left out, 2 wrong usage or unreadable file.`;

export interface ImportArguments {
  readonly file: string;
  /** Root of a running service; null opens the configured database. */
  readonly url: URL | null;
}

/** Thrown when the command cannot start as it was called; the message says why, for the person who called. */
export class UsageError extends Error {
  override readonly name = 'UsageError';
}

/** The arguments, or `help` when that was asked for. Throws UsageError. */
export function importArguments(args: readonly string[]): ImportArguments | 'help' {
  const { values, positionals } = parsed(args);
  if (values.help === true) return 'help';
  const [file, ...more] = positionals;
  if (file === undefined || file === '') throw new UsageError('Which FILE?');
  if (more.length > 0) throw new UsageError('One FILE at a time');
  return { file, url: values.url === undefined ? null : serviceUrl(values.url) };
}

function parsed(args: readonly string[]) {
  try {
    return parseArgs({
      args: [...args],
      allowPositionals: true,
      options: { url: { type: 'string' }, help: { type: 'boolean', short: 'h' } },
    });
  } catch (error) {
    throw new UsageError(error instanceof Error ? error.message : String(error));
  }
}

function serviceUrl(text: string): URL {
  const url = URL.canParse(text) ? new URL(text) : null;
  if (url === null || !/^https?:$/.test(url.protocol) || url.search !== '' || url.hash !== '') {
    throw new UsageError(`--url must be the http or https address of a service, not ${JSON.stringify(text)}`);
  }
  return url;
}
