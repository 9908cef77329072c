import { readFile } from 'node:fs/promises';
import { httpTarget } from '../src/cli/http-target.js';
import { ServiceGone } from '../src/cli/service-target.js';
import { heading, paragraph, stepTable, summarizerLine, summaryHeading, totalLine } from './demo-report.js';
import { startDemoService } from './demo-service.js';
import {
  compactOnce,
  contextRoles,
  createSession,
  DemoRefused,
  type DemoStep,
  readSession,
  waitUntilReady,
} from './demo-steps.js';

/** `npm run demo`: a real service folds the example conversation three times, and shows what comes of it. */

const EXAMPLE = new URL('../examples/ferry-booking.json', import.meta.url);
const STEPS = 3;
/** The end of the conversation stays word for word, with the question that is still to be answered. */
const KEEP_RECENT = 6;

const print = (...lines: readonly string[]) => process.stdout.write(`${lines.join('\n')}\n`);

async function demo(signal: AbortSignal): Promise<void> {
  const example = await readFile(EXAMPLE, 'utf8');
  const server = await startDemoService(signal);
  // No time limit: a local model may take minutes for a summary.
  const service = httpTarget(server.url, { timeoutMs: 0, signal });
  try {
    await waitUntilReady(service);
    const id = await createSession(service, example);
    const { title, messageCount } = await readSession(service, id);
    print(heading(`compactd demo: ${title ?? id}, ${messageCount} messages`));
    print(`Service    ${server.url.origin}`, `Database   ${server.database}, removed at the end`);
    print(`Summaries  ${summarizerLine(process.env)}`);
    print(`Each step  about half of the open context; the newest ${KEEP_RECENT} messages stay out of it`, '');

    const steps: DemoStep[] = [];
    for (let step = 1; step <= STEPS; step += 1) steps.push(await compactOnce(service, id, KEEP_RECENT));
    const { summary } = await readSession(service, id);
    print(...stepTable(steps), '', totalLine(steps, messageCount), '');
    print(heading(summaryHeading(summary ?? '', steps)), ...paragraph(summary ?? '(none)'), '');
    print(heading('Context, ready for the next model call'));
    print(...paragraph((await contextRoles(service, id)).join(', ')));
  } finally {
    await service.close();
    await server.stop();
  }
}

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

try {
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
