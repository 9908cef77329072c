import { parentPort } from 'node:worker_threads';
import { extractSummary } from './extract.js';
import type { FromWorker, PagedText, ToWorker } from './worker-protocol.js';

/** The entry of the worker thread: collects the pages of a job, runs it, answers, and waits for the next. */
const port = parentPort;
if (port === null) throw new Error('worker.ts runs in a worker thread only');

let pages: Record<PagedText, string[]> = { transcript: [], previousSummary: [] };

port.on('message', (message: ToWorker) => {
  if (message.kind === 'page') {
    pages[message.of].push(message.text);
    return;
  }
  const { transcript, previousSummary } = pages;
  // Dropped before the run: a failed job must leave nothing behind in the next one's text.
  pages = { transcript: [], previousSummary: [] };
  port.postMessage(
    run({
      ...message.rest,
      transcript: transcript.join(''),
      previousSummary: message.hasPrevious ? previousSummary.join('') : null,
    }),
  );
});

function run(request: Parameters<typeof extractSummary>[0]): FromWorker {
  try {
    return { kind: 'summary', text: extractSummary(request) };
  } catch (error) {
    return { kind: 'failed', message: error instanceof Error ? error.message : String(error) };
  }
}
