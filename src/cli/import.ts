import { resolve } from 'node:path';
import { ConfigError, loadConfig } from '../config.js';
import { httpTarget } from './http-target.js';
import { IMPORT_HELP, type ImportArguments, importArguments, UsageError } from './import-arguments.js';
import { type ImportTally, importSessions } from './import-sessions.js';
import { counted } from './number-text.js';
import { InputError, openInput } from './open-input.js';
import { problemLine } from './problem-faults.js';
import { showProgress } from './progress-bar.js';
import { readDocuments } from './read-documents.js';
import { readLines } from './read-lines.js';
import { ServiceGone, type ServiceTarget } from './service-target.js';

/** Longest wait for one answer of a running service, in ms. */
const ANSWER_TIMEOUT_MS = 120_000;
/** Interrupts this close together are one, in ms. */
const SAME_INTERRUPT_MS = 500;

/** `npm run import`: loads sessions from a file. Returns the exit code. */
async function main(): Promise<number> {
  const given = importArguments(process.argv.slice(2));
  if (given === 'help') {
    process.stdout.write(`${IMPORT_HELP}\n`);
    return 0;
  }
  const input = await openInput(inputPath(given.file)).catch((error: unknown) => {
    throw new UsageError(`Cannot read ${given.file}: ${messageOf(error)}`);
  });
  const target = await openTarget(given);

  const started = performance.now();
  const tally: ImportTally = { sessions: 0, messages: 0, chars: 0, bad: 0 };
  const { totalBytes, bytesRead } = input;
  const progress = showProgress(process.stderr, () => ({ bytes: bytesRead(), totalBytes, ...tally }));
  const stop = new AbortController();
  let stoppedAt = 0;
  process.on('SIGINT', () => {
    // A second one means now; but npm passes on what the terminal has sent already.
    if (stop.signal.aborted && performance.now() - stoppedAt > SAME_INTERRUPT_MS) process.exit(130);
    stoppedAt ||= performance.now();
    stop.abort();
    input.stop();
  });

  let failure: unknown = null;
  try {
    await importSessions(readDocuments(readLines(input.chunks), /\.(jsonl|ndjson)$/i.test(given.file)), {
      target,
      tally,
      signal: stop.signal,
      onBad: (place, faults) => {
        for (const { pointer, reason } of faults) {
          progress.line(`${place}: ${pointer === '' ? '' : `${pointer} `}${reason}`);
        }
      },
    });
  } catch (error) {
    failure = error;
  } finally {
    progress.end();
    input.stop();
    await target.close();
  }
  process.stdout.write(`${summary(tally, performance.now() - started)}\n`);
  if (stop.signal.aborted) return 130;
  if (failure === null) return tally.bad > 0 ? 1 : 0;
  if (failure instanceof ServiceGone) {
    process.stderr.write('Stopped: the service does not answer any more.\n');
    return 1;
  }
  if (!(failure instanceof InputError)) throw failure;
  throw new UsageError(`Cannot read ${given.file} to its end: ${failure.message}`);
}

/** npm runs scripts in the project's folder; people name files from where they are. */
function inputPath(file: string): string {
  const { npm_lifecycle_event: script, INIT_CWD: folder } = process.env;
  return file === '-' || script !== 'import' || folder === undefined ? file : resolve(folder, file);
}

async function openTarget({ url }: ImportArguments): Promise<ServiceTarget> {
  if (url === null) {
    const config = loadConfig(process.env);
    // Loaded when it is needed: the whole app takes longer to load than a small file takes to send.
    const { inProcessTarget } = await import('./in-process-target.js');
    return inProcessTarget(config).catch((error: unknown) => {
      throw new UsageError(`Cannot open ${config.databaseUrl}: ${messageOf(error)}`);
    });
  }
  const target = httpTarget(url, { timeoutMs: ANSWER_TIMEOUT_MS });
  const ready = await target.send('GET', '/readyz');
  if (ready.status !== 200) throw new UsageError(`${url.href} is not ready: ${problemLine(ready)}`);
  return target;
}

function summary({ sessions, messages, chars, bad }: ImportTally, ms: number): string {
  const what = [counted(sessions, 'session'), counted(messages, 'message'), counted(chars, 'char')].join(
    ', ',
  );
  return `Imported ${what}; ${counted(bad, 'bad line')}; ${(ms / 1000).toFixed(1)} s`;
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

// Whoever reads the output may leave, as `head` does; a half imported session would be worse than silence.
for (const stream of [process.stdout, process.stderr]) stream.on('error', () => {});

try {
  process.exitCode = await main();
} catch (error) {
  const expected =
    error instanceof UsageError || error instanceof ConfigError || error instanceof ServiceGone;
  process.stderr.write(`${expected || !(error instanceof Error) ? messageOf(error) : error.stack}\n`);
  if (error instanceof UsageError && process.argv.length < 3) process.stderr.write(`\n${IMPORT_HELP}\n`);
  process.exitCode = 2;
}
