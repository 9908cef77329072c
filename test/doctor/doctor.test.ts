import { describe, expect, it } from 'vitest';
import { runCommand } from '../cli/run-command.js';
import { CASES } from './cases.js';
import { examine, KEY, MODEL, runDoctor, startEndpoint, stream, tableIn } from './harness.js';
import { GOOD_ROWS } from './rows.js';

describe('npm run doctor', { timeout: 60_000 }, () => {
  it('finds nothing wrong with a good endpoint, with four requests', async () => {
    const { code, rows, stdout, server } = await examine({});
    expect(rows).toEqual(GOOD_ROWS);
    expect(code).toBe(0);
    expect(stdout.split('\n')[0]).toBe(`main and compact: ${MODEL} at ${server.url}/v1`);
    expect(server.requests.map(({ method, path }) => `${method} ${path}`)).toEqual([
      'GET /v1/models',
      'POST /v1/chat/completions',
      // The window, as the service asks for it.
      'GET /v1/models',
      'POST /v1/chat/completions',
    ]);
    for (const { headers } of server.requests) expect(headers['authorization']).toBe(`Bearer ${KEY}`);
  });

  it.each(CASES)(
    '$name',
    async ({ endpoint = {}, env = {}, args = [], rows, code, requests, says = /^/ }) => {
      const started = performance.now();
      const examined = await examine(endpoint, env, args);
      expect(performance.now() - started).toBeLessThan(10_000);
      expect(examined.rows).toEqual({ ...GOOD_ROWS, ...rows });
      expect(examined.code).toBe(code);
      expect(examined.stdout).toMatch(says);
      expect(examined.stdout).not.toContain(KEY);
      expect(Math.max(...examined.stdout.split('\n').map((line) => line.length))).toBeLessThanOrEqual(100);
      if (requests !== undefined) expect(examined.server.requests).toHaveLength(requests);
      if (env['OPENAI_API_KEY'] === '') {
        for (const { headers } of examined.server.requests) expect(headers['authorization']).toBeUndefined();
      }
    },
  );

  it('shows a refused connection, to the letter', async () => {
    const OPENAI_BASE_URL = `http://127.0.0.1:9/v1?key=${KEY}`;
    const run = await runDoctor({ OPENAI_BASE_URL, OPENAI_API_KEY: KEY, MAIN_MODEL: MODEL });
    expect(run).toEqual({
      code: 1,
      stderr: '',
      stdout: `main and compact: small-model at http://127.0.0.1:9/v1

check      result   seen                              what to do
---------  -------  --------------------------------  ----------------------------------------------
reachable  failed   connect ECONNREFUSED 127.0.0.1:9  Start the server, or correct host and port in
                                                      OPENAI_BASE_URL; in a container, 127.0.0.1 is
                                                      the container
key        skipped  the endpoint is not reached
model      skipped  the endpoint is not reached
streams    skipped  the endpoint is not reached
usage      skipped  the endpoint is not reached
window     skipped  the endpoint is not reached
summary    skipped  the endpoint is not reached
`,
    });
  });

  it.each([
    ['http://user:hidden-1@127.0.0.1:9/v1', KEY, 'OPENAI_BASE_URL: must hold no user or password'],
    ['http://127.0.0.1:9/v1', 'hidden-1\nX: y', 'OPENAI_API_KEY: holds a character that no header can have'],
  ])('does not begin with the address %s and the key %j', async (OPENAI_BASE_URL, OPENAI_API_KEY, fault) => {
    const run = await runDoctor({ OPENAI_BASE_URL, OPENAI_API_KEY, MAIN_MODEL: MODEL });
    expect([run.code, run.stdout]).toEqual([1, '']);
    expect(run.stderr).toContain(fault);
    expect(run.stderr).not.toContain('hidden-1');
  });

  it('names a proxy that cannot be used, and shows nothing of it', async () => {
    const OPENAI_BASE_URL = 'http://example.invalid/v1';
    const HTTP_PROXY = 'ftp://hidden-1:hidden-2@proxy';
    const run = await runDoctor({ OPENAI_BASE_URL, HTTP_PROXY, MAIN_MODEL: MODEL });
    expect(run).toMatchObject({
      code: 1,
      stdout: '',
      stderr: 'The configuration is not valid:\n  HTTP_PROXY: must be the http(s) address of a proxy\n',
    });
  });

  it('checks two endpoints one after the other; one that fails is enough for the exit code', async () => {
    const [main, compact] = [await startEndpoint(), await startEndpoint({ summary: stream('') })];
    const run = await runDoctor({
      OPENAI_BASE_URL: main.url,
      OPENAI_API_KEY: KEY,
      MAIN_MODEL: MODEL,
      COMPACT_BASE_URL: compact.url,
      COMPACT_MODEL: 'other-model',
      COMPACT_MAX_OUTPUT_TOKENS: '500',
    });
    expect(run.code).toBe(1);
    const [first = '', second = ''] = run.stdout.split(/\n(?=compact: )/);
    expect(first.split('\n')[0]).toBe(`main: ${MODEL} at ${main.url}/`);
    expect(second.split('\n')[0]).toBe(`compact: other-model at ${compact.url}/`);
    expect(tableIn(first)).toEqual(GOOD_ROWS);
    expect(tableIn(second)).toEqual({
      ...GOOD_ROWS,
      // The key of main stays with main's host.
      key: ['ok', 'none is sent, and none is asked for', ''],
      model: ['ok', 'other-model is one of 2 listed models', ''],
      window: ['ok', '8,192 tokens, served (/v1/models, max_model_len)', ''],
      summary: [
        'failed',
        'rejected: the summary is empty',
        'The reply may be all reasoning, or the prompt given back: use another model, or raise COMPACT_MAX_OUTPUT_TOKENS',
      ],
    });
    for (const { headers } of compact.requests) expect(headers['authorization']).toBeUndefined();
  });

  it('checks the embedded summarizer when no endpoint is configured, compiled too', async () => {
    const env = { OPENAI_BASE_URL: '', MAIN_MODEL: '', COMPACT_MODEL: '' };
    for (const args of [
      ['run', '--silent', 'doctor'],
      ['exec', '--', 'node', 'dist/doctor/doctor.js'],
    ]) {
      const run = await runCommand('npm', args, { env });
      expect(run.stderr).toBe('');
      expect(run.code).toBe(0);
      expect(run.stdout.split('\n').slice(0, 2)).toEqual([
        'No model endpoint is configured: summaries are written by embedded/extractive',
        '',
      ]);
      expect(tableIn(run.stdout)).toEqual({
        summary: ['ok', expect.stringMatching(/^accepted: \d+ chars in TIME$/), ''],
      });
    }
  });

  it('shows what is wrong with the configuration, without its values', async () => {
    const run = await runDoctor({ PORT: 'http', OPENAI_API_KEY: KEY, MAIN_RETRIES: '-1' });
    expect(run.code).toBe(1);
    expect(run.stdout).toBe('');
    expect(run.stderr).toContain('PORT: ');
    expect(run.stderr).toContain('MAIN_RETRIES: ');
    expect(run.stderr).not.toContain(KEY);
    expect(run.stderr).toMatch(/^The configuration is not valid:\n/);
    expect(run.stderr).not.toMatch(/^\s+at /m);
  });

  it('explains itself', async () => {
    const help = await runDoctor({}, ['--help']);
    expect(help.code).toBe(0);
    expect(help.stdout).toMatch(/^Checks the configured model endpoints/);
    for (const args of [['--timeout', '0'], ['--timeout', 'soon'], ['--fix']]) {
      const run = await runDoctor({}, args);
      expect([run.code, run.stdout]).toEqual([2, '']);
      expect(run.stderr).toMatch(/^(?:--timeout must be|Unknown option '--fix')[^\n]*\n$/);
    }
  });
});
