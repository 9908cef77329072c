import { existsSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { basename, dirname } from 'node:path';
import { describe, expect, it, type TestContext } from 'vitest';
import { summarizerLine } from '../../scripts/demo-report.js';
import { type Finished, type RunOptions, runCommand, runScript } from './run-command.js';

const runDemo = (options: RunOptions) => runScript('scripts/demo.ts', [], options);

/** A model endpoint that gives every request the same answer. */
async function modelEndpoint(test: TestContext, status: number, body: object): Promise<string> {
  const server = createServer((request, response) => {
    request.resume().on('end', () => {
      response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body));
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  test.onTestFinished(() => void server.close());
  const address: AddressInfo | string | null = server.address();
  if (address === null || typeof address === 'string') throw new Error('the endpoint has no port');
  return `http://127.0.0.1:${address.port}/v1`;
}

async function expectNothingLeft({ stdout }: Finished): Promise<void> {
  const url = /^Service +(http:\S+)$/m.exec(stdout)?.[1] ?? '';
  await expect(fetch(`${url}/livez`)).rejects.toThrow('fetch failed');
  const database = /^Database +(.+), removed at the end$/m.exec(stdout)?.[1] ?? '';
  expect(basename(dirname(database))).toMatch(/^compactd-demo-/);
  expect(existsSync(dirname(database))).toBe(false);
}

describe('npm run demo', { timeout: 60_000 }, () => {
  it('folds the example three times and shows what comes of it', async () => {
    const run = await runCommand('npm', ['run', '--silent', 'demo']);
    expect(run.stderr).toBe('');
    expect(run.code).toBe(0);
    const lines = run.stdout.split('\n');
    expect(Math.max(...lines.map((line) => line.length))).toBeLessThanOrEqual(100);
    expect(lines[0]).toBe('compactd demo: Radfreunde Kiel to Oslo, June 2026, 65 messages');
    expect(lines[3]).toBe('Summaries  no model is set: embedded summarizer, which only picks sentences');

    const rows = lines
      .filter((line) => /^ +\d+ +\d/.test(line))
      .map((line) => line.replaceAll(/[,%]/g, '').trim().split(/\s+/).map(Number));
    expect(rows.map(([step]) => step)).toEqual([1, 2, 3]);
    let size = 0;
    let before = 17_824;
    for (const [, folded = 0, compactSize, charsBefore, charsAfter = 0, saved, messages] of rows) {
      expect(folded).toBeGreaterThan(0);
      size += folded;
      expect(compactSize).toBe(size);
      expect(charsBefore).toBe(before);
      expect(charsAfter).toBeLessThan(before);
      expect(saved).toBe(Math.round((100 * (before - charsAfter)) / before));
      // The system message, the summary, and what is not folded; an acknowledgement where one is needed.
      expect([66 - size, 67 - size]).toContain(messages);
      before = charsAfter;
    }
    // The last six messages stay out: 64 conversation messages are there to be folded.
    expect(size).toBe(58);
    expect(run.stdout).toMatch(/Summary after step 3 \([\d,]+ chars, by embedded\/extractive\)/);
    expect(run.stdout).toContain('HOLD-55823');
    expect(lines.slice(-2)).toEqual([
      '  system, user (summary), assistant, user, assistant, tool, tool, assistant, user',
      '',
    ]);
    await expectNothingLeft(run);
  });

  it('uses the model of the environment, and says so', async (test) => {
    const summary = 'The club travels from Kiel to Oslo on 11 June 2026.';
    const OPENAI_BASE_URL = await modelEndpoint(test, 200, {
      choices: [{ index: 0, finish_reason: 'stop', message: { role: 'assistant', content: summary } }],
      usage: { prompt_tokens: 10, completion_tokens: 5 },
    });
    const run = await runDemo({ env: { OPENAI_BASE_URL, MAIN_MODEL: 'ferry-model' } });
    expect(run.stderr).toBe('');
    expect(run.code).toBe(0);
    expect(run.stdout).toContain(
      `Summaries  written by the model ferry-model at ${new URL(OPENAI_BASE_URL).origin}\n`,
    );
    expect(run.stdout).toContain(`Summary after step 3 (51 chars, by ferry-model)\n  ${summary}\n`);
  });

  it('shows an error of the service as one line', async (test) => {
    const OPENAI_BASE_URL = await modelEndpoint(test, 401, {
      error: { message: 'Incorrect API key provided' },
    });
    const run = await runDemo({ env: { OPENAI_BASE_URL, COMPACT_MODEL: 'ferry-model' } });
    expect(run.stderr).toMatch(
      /^demo: POST \/sessions\/ferry-booking\/compact: .*\(MODEL_AUTH, status 502\)\n$/,
    );
    expect(run.code).toBe(1);
    await expectNothingLeft(run);
  });

  it('cleans up when it is interrupted, here while it waits for a summary', async (test) => {
    const server = createServer(() => {});
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    test.onTestFinished(() => {
      server.closeAllConnections();
      server.close();
    });
    const address = server.address();
    const port = typeof address === 'object' ? address?.port : 0;
    const run = await runDemo({
      env: { OPENAI_BASE_URL: `http://127.0.0.1:${port}/v1`, MAIN_MODEL: 'slow-model' },
      interruptWhen: (stdout) => stdout.includes('slow-model'),
    });
    expect(run.stderr).toBe('demo: stopped by SIGINT\n');
    expect(run.code).toBe(130);
    await expectNothingLeft(run);
  });
});

it('the example answers every tool call, in order, and ends with a question of the user', async () => {
  interface Message {
    readonly role: string;
    readonly tool_call_id?: string;
    readonly tool_calls?: readonly {
      readonly id: string;
      readonly function: { readonly arguments: string };
    }[];
  }
  const text = await readFile(new URL('../../examples/ferry-booking.json', import.meta.url), 'utf8');
  const { id, messages }: { id: string; messages: Message[] } = JSON.parse(text);
  expect(id).toBe('ferry-booking');
  const open: string[] = [];
  for (const message of messages) {
    if (message.role === 'tool') expect(message.tool_call_id).toBe(open.shift());
    else expect(open).toEqual([]);
    open.push(...(message.tool_calls ?? []).map((call) => call.id));
    for (const call of message.tool_calls ?? []) JSON.parse(call.function.arguments);
  }
  expect(messages.filter(({ tool_calls }) => (tool_calls?.length ?? 0) > 1).length).toBeGreaterThan(2);
  expect(messages.at(-1)?.role).toBe('user');
});

it('the demo says which summarizer the environment asks for', () => {
  const OPENAI_BASE_URL = 'http://127.0.0.1:9/v1';
  expect(summarizerLine({ OPENAI_BASE_URL })).toBe(
    'no model is set (MAIN_MODEL, COMPACT_MODEL) for the base URL: embedded summarizer',
  );
  expect(summarizerLine({ MAIN_MODEL: 'large', COMPACT_MODEL: ' small ' })).toBe(
    'written by the model small',
  );
});
