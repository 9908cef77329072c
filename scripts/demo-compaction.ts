import { readFile } from 'node:fs/promises';
import { httpTarget } from '../src/cli/http-target.js';
import { heading, paragraph, stepTable, summarizerLine, summaryHeading, totalLine } from './demo-report.js';
import { startDemoService } from './demo-service.js';
import {
  compactOnce,
  contextRoles,
  createSession,
  type DemoStep,
  readSession,
  waitUntilReady,
} from './demo-steps.js';

const EXAMPLE = new URL('../examples/ferry-booking.json', import.meta.url);
const STEPS = 3;
/** The end of the conversation stays word for word, with the question that is still to be answered. */
const KEEP_RECENT = 6;

const print = (...lines: readonly string[]) => process.stdout.write(`${lines.join('\n')}\n`);

/** A real service folds the example conversation three times, and shows what comes of it. */
export async function compactionDemo(signal: AbortSignal): Promise<void> {
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
