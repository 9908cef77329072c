import { ConfigError, loadConfig } from '../config.js';
import { SchemaMismatch } from '../db/migrations.js';
import { type CopyConnection, CopyRefused } from './copy/connection.js';
import { COPY_HELP, copyArguments } from './copy/copy-arguments.js';
import { type CopyResult, copyDatabase } from './copy/copy-database.js';
import { newProgress } from './copy/copy-run.js';
import { copyProgressText, verificationLines } from './copy/copy-text.js';
import { isSame } from './copy/digest.js';
import { openSource, openTarget } from './copy/open-connection.js';
import { UsageError } from './import-arguments.js';
import { count, counted } from './number-text.js';
import { showText } from './progress-bar.js';

/** Interrupts this close together are one, in ms. */
const SAME_INTERRUPT_MS = 500;
const AGAIN = 'Run the same command again: it goes on where it stopped.';

/** `npm run copy`: copies one database into another. Returns the exit code. */
async function main(): Promise<number> {
  const given = copyArguments(process.argv.slice(2));
  if (given === 'help') {
    say(COPY_HELP);
    return 0;
  }
  const { postgres } = loadConfig(process.env);
  const started = performance.now();
  const stop = new AbortController();
  let stoppedAt = 0;
  const interrupt = () => {
    // A second one means now; but npm passes on what the terminal has sent already.
    if (stop.signal.aborted && performance.now() - stoppedAt > SAME_INTERRUPT_MS) process.exit(130);
    stoppedAt ||= performance.now();
    stop.abort();
  };
  process.on('SIGINT', interrupt);
  process.on('SIGTERM', interrupt);
  const progress = newProgress();
  const open: CopyConnection[] = [];
  const shown = showText(process.stderr, (bar) => copyProgressText(progress, bar));
  try {
    const source = await openSource(given.from, postgres);
    open.push(source);
    const target = await openTarget(given.to, postgres);
    open.push(target);
    const run = { source, target, progress, signal: stop.signal, force: given.force };
    const result = await copyDatabase(run);
    shown.end();
    return report(result, performance.now() - started);
  } catch (error) {
    if (error instanceof CopyRefused || error instanceof SchemaMismatch) throw error;
    shown.end();
    complain(stop.signal.aborted ? `Interrupted. ${AGAIN}` : `${messageOf(error)}\n${AGAIN}`);
    return stop.signal.aborted ? 130 : 1;
  } finally {
    shown.end();
    for (const connection of open) await connection.close().catch(() => {});
  }
}

function report(result: CopyResult, ms: number): number {
  const { tables, resumedRows, changed, analyzeError } = result;
  say(verificationLines(result).join('\n'));
  if (!tables.every(({ source, target }) => isSame(source, target))) {
    complain('The copy is NOT the same as its source: something else has written to it. Start anew.');
    return 1;
  }
  const rows = tables.reduce((sum, { source }) => sum + source.rows, 0);
  const before = resumedRows > 0 ? `, ${count(resumedRows)} of them in an earlier run` : '';
  say(`Copied ${counted(rows, 'row')}${before}; all are the same; ${(ms / 1000).toFixed(1)} s`);
  if (changed.length > 0) {
    complain(`The source has changed since the copy began (${changed.join(', ')}); the copy is of before.`);
  }
  if (analyzeError !== null) complain(`The copy could not be analyzed: ${messageOf(analyzeError)}`);
  return 0;
}

function say(text: string): void {
  process.stdout.write(`${text}\n`);
}

function complain(text: string): void {
  process.stderr.write(`${text}\n`);
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

// Whoever reads the output may leave, as `head` does; the copy goes on.
for (const stream of [process.stdout, process.stderr]) stream.on('error', () => {});

try {
  process.exitCode = await main();
} catch (error) {
  const expected =
    error instanceof UsageError ||
    error instanceof ConfigError ||
    error instanceof CopyRefused ||
    error instanceof SchemaMismatch;
  complain(expected || !(error instanceof Error) ? messageOf(error) : (error.stack ?? error.message));
  if (error instanceof UsageError && process.argv.length < 3) complain(`\n${COPY_HELP}`);
  process.exitCode = 2;
}
