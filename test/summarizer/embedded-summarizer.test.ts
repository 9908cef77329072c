import { execFileSync } from 'node:child_process';
import { monitorEventLoopDelay } from 'node:perf_hooks';
import { fileURLToPath } from 'node:url';
import { afterEach, describe, expect, test } from 'vitest';
import type { SummaryRequest } from '../../src/compaction/summarizer.js';
import {
  createEmbeddedSummarizer,
  type EmbeddedSummarizer,
} from '../../src/summarizer/embedded-summarizer.js';
import { extractSummary } from '../../src/summarizer/extract.js';
import { WorkerHost } from '../../src/summarizer/worker-host.js';
import { transcriptOf } from './transcripts.js';

const open: EmbeddedSummarizer[] = [];

function create(host?: WorkerHost): EmbeddedSummarizer {
  const summarizer = createEmbeddedSummarizer(host);
  open.push(summarizer);
  return summarizer;
}

afterEach(async () => {
  await Promise.all(open.splice(0).map((summarizer) => summarizer.close()));
});

function request(rest: Partial<SummaryRequest> = {}): SummaryRequest {
  return {
    previousSummary: null,
    transcript: transcriptOf(['user', 'Keep berth 12 for the boat Aurora.'], ['assistant', 'Kept as K-114.']),
    instructions: null,
    maxChars: 2000,
    lastReplyChars: null,
    maxOutputTokens: null,
    signal: new AbortController().signal,
    ...rest,
  };
}

/** Some seconds of work: one that is surely still running when the test cancels it. */
const LARGE = transcriptOf(['user', 'A. b 漢字。'.repeat(400_000)]);

const hostOf = (code: string): WorkerHost =>
  new WorkerHost(new URL(`data:text/javascript,${encodeURIComponent(code)}`));

describe('the contract', () => {
  test('describes itself', () => {
    expect(create()).toMatchObject({
      model: 'embedded/extractive',
      budget: { unit: 'chars', transcriptChars: 1_000_000 },
      maxOutputTokens: null,
    });
  });

  test('a completion has every field', async () => {
    const asked = request();
    expect(await create().summarize(asked)).toEqual({
      outcome: {
        kind: 'ok',
        text: extractSummary(asked),
        finishReason: 'stop',
        refusal: null,
        toolCalls: [],
        model: 'embedded/extractive',
      },
      requests: 1,
      usage: { inputTokens: null, outputTokens: null },
    });
  });

  test('texts of several pages arrive whole, surrogate pairs on the page border too', async () => {
    const transcript = transcriptOf(['user', `${'👍 berth 12 '.repeat(20_001)}end K-114.`]);
    const asked = request({
      transcript,
      previousSummary: `x${'👍'.repeat(40_000)}\nRef K-115`,
      maxChars: 5000,
    });
    const { outcome } = await create().summarize(asked);
    expect(outcome).toMatchObject({ kind: 'ok', text: extractSummary(asked) });
  });
});

describe('the queue', () => {
  test('jobs come back in the order they came', async () => {
    const summarizer = create();
    const order: number[] = [];
    await Promise.all(
      [3, 1, 2].map(async (id) => {
        const { outcome } = await summarizer.summarize(
          request({ transcript: transcriptOf(['user', `${`Berth ${id} is free. `.repeat(id * 500)}`]) }),
        );
        expect(outcome).toMatchObject({ kind: 'ok', text: `## Goal\n- Berth ${id} is free.` });
        order.push(id);
      }),
    );
    expect(order).toEqual([3, 1, 2]);
  });

  test('the event loop turns while a megabyte is summarized', async () => {
    const summarizer = create();
    await summarizer.summarize(request());
    const delays = monitorEventLoopDelay({ resolution: 5 });
    delays.enable();
    await summarizer.summarize(
      request({ transcript: transcriptOf(['user', 'The berth is free. '.repeat(52_000)]) }),
    );
    delays.disable();
    expect(delays.max / 1e6).toBeLessThan(500);
  });
});

describe('cancelling', () => {
  test('before the start: no worker at all', async () => {
    const { outcome } = await create().summarize(request({ signal: AbortSignal.abort() }));
    expect(outcome).toMatchObject({ kind: 'aborted', status: null });
  });

  test('a running job ends at once, and the next one gets a new worker', async () => {
    const summarizer = create();
    await summarizer.summarize(request());
    const cancel = new AbortController();
    const running = summarizer.summarize(request({ transcript: LARGE, signal: cancel.signal }));
    const next = summarizer.summarize(request());
    await new Promise((resolve) => setTimeout(resolve, 150));
    const cancelled = performance.now();
    cancel.abort();
    expect((await running).outcome.kind).toBe('aborted');
    expect(performance.now() - cancelled).toBeLessThan(1000);
    expect((await next).outcome.kind).toBe('ok');
  });

  test('an abandoned job does not keep its worker', async () => {
    const summarizer = create(
      hostOf(`import { parentPort } from 'node:worker_threads';
        let text = '';
        parentPort.on('message', (message) => {
          if (message.kind === 'page') text += message.text;
          else if (text === 'forever') for (;;);
          else parentPort.postMessage({ kind: 'summary', text });
        });`),
    );
    const cancel = new AbortController();
    const running = summarizer.summarize(request({ transcript: 'forever', signal: cancel.signal }));
    const next = summarizer.summarize(request({ transcript: 'short' }));
    setTimeout(() => cancel.abort(), 100);
    expect((await running).outcome.kind).toBe('aborted');
    expect((await next).outcome).toMatchObject({ kind: 'ok', text: 'short' });
  });

  test('a waiting job ends at once and leaves the running one alone', async () => {
    const summarizer = create();
    const cancel = new AbortController();
    const finished: string[] = [];
    const running = summarizer.summarize(request()).then(({ outcome }) => finished.push(outcome.kind));
    const waiting = summarizer
      .summarize(request({ signal: cancel.signal }))
      .then(({ outcome }) => finished.push(outcome.kind));
    cancel.abort();
    await Promise.all([running, waiting]);
    expect(finished).toEqual(['aborted', 'ok']);
  });
});

describe('failures', () => {
  test.each([
    ['throws', 'throw new Error("no memory left")', 'no memory left'],
    ['exits', 'process.exit(3)', 'code 3'],
  ])(
    'a worker that %s makes the call unavailable, and each call gets a new worker',
    async (_, code, cause) => {
      const summarizer = create(
        hostOf(
          `import { parentPort } from 'node:worker_threads'; parentPort.on('message', () => { ${code} });`,
        ),
      );
      for (let call = 0; call < 2; call += 1) {
        const { outcome } = await summarizer.summarize(request());
        expect(outcome).toMatchObject({ kind: 'unavailable', status: null, retryAfterMs: null });
        expect(outcome).toHaveProperty('message', expect.stringContaining(cause));
      }
    },
  );

  test('a worker that cannot start', async () => {
    const { outcome } = await create(new WorkerHost(new URL('file:///nowhere/worker.js'))).summarize(
      request(),
    );
    expect(outcome.kind).toBe('unavailable');
  });

  test('close fails what runs and waits, and what comes later', async () => {
    const summarizer = create();
    const jobs = [summarizer.summarize(request({ transcript: LARGE })), summarizer.summarize(request())];
    await summarizer.close();
    const later = await summarizer.summarize(request());
    for (const { outcome } of [...(await Promise.all(jobs)), later]) expect(outcome.kind).toBe('unavailable');
  });
});

test('an idle worker does not hold the process open', () => {
  const module = fileURLToPath(new URL('../../src/summarizer/embedded-summarizer.ts', import.meta.url));
  const code = `
    import { createEmbeddedSummarizer } from ${JSON.stringify(module)};
    const { outcome } = await createEmbeddedSummarizer().summarize({ previousSummary: null, transcript: '[user]\\nBerth 12 is free.',
      instructions: null, maxChars: 200, lastReplyChars: null, maxOutputTokens: null, signal: new AbortController().signal });
    console.log(outcome.text);`;
  const printed = execFileSync(process.execPath, ['--import', 'tsx', '--input-type=module', '-e', code], {
    encoding: 'utf8',
    timeout: 25_000,
  });
  expect(printed.trim()).toBe('## Goal\n- Berth 12 is free.');
});
