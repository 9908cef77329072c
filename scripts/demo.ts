import { ServiceGone } from '../src/cli/service-target.js';
import { chatDemo } from './demo-chat.js';
import { compactionDemo } from './demo-compaction.js';
import { DemoRefused } from './demo-steps.js';

/** `npm run demo`: compactions by hand. `npm run demo -- chat`: an agent whose session compacts by itself. */

const demos = new Map([
  [undefined, compactionDemo],
  ['chat', chatDemo],
]);

const EXIT_CODES = { SIGHUP: 129, SIGINT: 130, SIGTERM: 143 } as const;
const interruption = new AbortController();
for (const signal of ['SIGHUP', 'SIGINT', 'SIGTERM'] as const) {
  // The first one ends the work, and what was started is cleaned up; later ones change nothing.
  process.on(signal, () => {
    process.exitCode ??= EXIT_CODES[signal];
    interruption.abort(new Error(`stopped by ${signal}`));
  });
}

// Whoever reads the output may leave, as `head` does: without this, the service would go on alone.
for (const stream of [process.stdout, process.stderr]) {
  stream.on('error', () => interruption.abort(new Error('nobody reads the output')));
}

const demo = demos.get(process.argv[2]);
try {
  if (demo === undefined) throw new DemoRefused(`there is no demo ${process.argv[2]}; there is: chat`);
  await demo(interruption.signal);
} catch (error) {
  const expected =
    interruption.signal.aborted || error instanceof DemoRefused || error instanceof ServiceGone;
  process.stderr.write(`demo: ${error instanceof Error && !expected ? error.stack : messageOf(error)}\n`);
  process.exitCode ??= 1;
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
