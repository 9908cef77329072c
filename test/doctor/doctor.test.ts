import { describe, expect, it } from 'vitest';
import { runCommand } from '../cli/run-command.js';
import {
  type Endpoint,
  examine,
  GOOD_SUMMARY,
  json,
  KEY,
  listOf,
  MODEL,
  plain,
  type Rows,
  refusal,
  runDoctor,
  startEndpoint,
  stream,
  tableIn,
} from './harness.js';

const GOOD_ROWS: Rows = {
  reachable: ['ok', 'GET models: 200 in TIME', ''],
  key: ['ok', 'accepted', ''],
  model: ['ok', `${MODEL} is one of 2 listed models`, ''],
  streams: ['ok', '4 events in TIME', ''],
  usage: ['ok', '312 tokens in, 21 out', ''],
  window: ['ok', '32,768 tokens, served (/v1/models, max_model_len)', ''],
  summary: ['ok', `accepted: ${GOOD_SUMMARY.length} chars in TIME`, ''],
};
const NO_CHAT = ['skipped', 'no chat was answered', ''];
const NOT_REACHED = ['skipped', 'the endpoint is not reached', ''];
const UNREACHED_ROWS = Object.fromEntries(
  Object.keys(GOOD_ROWS)
    .slice(1)
    .map((check) => [check, NOT_REACHED]),
);

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

  it.each<[string, Endpoint, Rows, number]>([
    [
      'a wrong key, which is echoed',
      {
        models: refusal(401, `Incorrect API key provided: ${KEY}.`),
        chat: refusal(401, `Incorrect API key provided: ${KEY}.`),
      },
      {
        reachable: ['ok', 'GET models: 401 in TIME', ''],
        key: [
          'failed',
          'The model endpoint answered 401: Incorrect API key provided: [REDACTED].',
          'Correct OPENAI_API_KEY: it may be of another vendor or project, or revoked',
        ],
        model: ['skipped', 'not known: no chat was answered', ''],
        streams: NO_CHAT,
        usage: NO_CHAT,
        window: [
          'warn',
          'not known: the endpoint does not name it',
          'Set MAIN_WINDOW_TOKENS. Until then a call takes 60,000 chars of transcript, and what is too long shows only if the server refuses it',
        ],
        summary: NO_CHAT,
      },
      1,
    ],
    [
      'a list for anyone and a wrong key',
      { chat: refusal(403, 'Forbidden') },
      {
        ...GOOD_ROWS,
        key: [
          'failed',
          'The model endpoint answered 403: Forbidden',
          'Correct OPENAI_API_KEY: it may be of another vendor or project, or revoked',
        ],
        streams: NO_CHAT,
        usage: NO_CHAT,
        summary: NO_CHAT,
      },
      1,
    ],
    [
      'a model that is not there',
      {
        models: listOf({ id: 'gpt-5' }, { id: 'small-models' }, { id: 'small' }, { id: 'smart' }),
        chat: refusal(404, `The model ${MODEL} does not exist`),
      },
      {
        ...GOOD_ROWS,
        model: [
          'failed',
          expect.stringMatching(
            // The address is longer than the column.
            /^The model endpoint answered 404 for http:\S+ ?\S+: The model small-model does not exist$/,
          ),
          'Set MAIN_MODEL to one that is there, such as small-models, small, smart',
        ],
        streams: NO_CHAT,
        usage: NO_CHAT,
        window: [
          'warn',
          'not known: the endpoint does not name it',
          expect.stringMatching(/^Set MAIN_WINDOW_TOKENS\./),
        ],
        summary: NO_CHAT,
      },
      1,
    ],
    [
      'no stream',
      { chat: plain('ok'), summary: plain(GOOD_SUMMARY) },
      {
        ...GOOD_ROWS,
        streams: [
          'warn',
          'a stream was asked for, the reply came in one piece',
          'It works. Turn streaming on in the server or gateway, or allow for slow replies with the timeouts',
        ],
      },
      0,
    ],
    [
      'no usage',
      { summary: stream(GOOD_SUMMARY, { usage: false }) },
      {
        ...GOOD_ROWS,
        usage: [
          'warn',
          'not reported',
          'Costs are not recorded, and a prompt that the server cuts is not noticed',
        ],
      },
      0,
    ],
    [
      'an empty summary',
      { summary: stream('<think>What should I write?</think>') },
      {
        ...GOOD_ROWS,
        summary: [
          'failed',
          'rejected: the summary is empty',
          'The reply may be all reasoning, or the prompt given back: use another model',
        ],
      },
      1,
    ],
    [
      'a cut summary',
      { summary: stream(GOOD_SUMMARY, { finish: 'length' }) },
      {
        ...GOOD_ROWS,
        summary: [
          'failed',
          'rejected: cut off by the output limit',
          "Raise the server's own limit for replies",
        ],
      },
      1,
    ],
    [
      'a summary that is longer than what it replaces',
      { summary: stream('word '.repeat(500)) },
      {
        ...GOOD_ROWS,
        summary: [
          'failed',
          'rejected: 2,499 chars for two short messages',
          'Use a model that follows instructions better',
        ],
      },
      1,
    ],
    [
      'a summary that lost what matters',
      { summary: stream('They talked about dinner.') },
      {
        ...GOOD_ROWS,
        summary: [
          'warn',
          'accepted: 25 chars in TIME, but without the number HB-20417 of the conversation',
          'Summaries of this model lose facts: a stronger one keeps identifiers word for word',
        ],
      },
      0,
    ],
    [
      'a model that answers without being listed',
      { models: listOf({ id: 'unlike' }) },
      {
        ...GOOD_ROWS,
        model: [
          'warn',
          `${MODEL} answers, but is not among 1 listed model`,
          'Look whether the server ignores the name and answers with another model',
        ],
        window: ['warn', 'not known: the endpoint does not name it', expect.any(String)],
      },
      0,
    ],
    [
      'no list at all',
      {
        models: { status: 404 },
        others: { 'GET /props': json({ default_generation_settings: { n_ctx: 4_096 } }) },
      },
      {
        ...GOOD_ROWS,
        reachable: ['ok', 'GET models: 404 in TIME', ''],
        model: ['ok', `${MODEL} answers; there is no list of models`, ''],
        window: ['ok', '4,096 tokens, served (/props, n_ctx)', ''],
      },
      0,
    ],
    [
      'a window that is too small',
      { models: listOf({ id: MODEL, max_model_len: 1_024 }, { id: 'other-model' }) },
      {
        ...GOOD_ROWS,
        window: [
          'failed',
          '1,024 tokens, served (/v1/models, max_model_len)',
          'Too small for summaries: load the model with a larger window, or use another one',
        ],
      },
      1,
    ],
    [
      'an account without credit',
      {
        chat: json(
          { error: { message: 'You exceeded your current quota', code: 'insufficient_quota' } },
          429,
        ),
        summary: json(
          { error: { message: 'You exceeded your current quota', code: 'insufficient_quota' } },
          429,
        ),
      },
      {
        ...GOOD_ROWS,
        streams: [
          'failed',
          'The model endpoint answered 429: You exceeded your current quota',
          'Add credit or raise the quota at the vendor, or use another endpoint',
        ],
        usage: ['skipped', 'no summary was answered', ''],
        summary: [
          'failed',
          'The model endpoint answered 429: You exceeded your current quota',
          'Add credit or raise the quota at the vendor, or use another endpoint',
        ],
      },
      1,
    ],
    [
      'a page instead of an API',
      {
        models: { headers: { 'content-type': 'text/html' }, body: '<html><body>Welcome</body></html>' },
        chat: { headers: { 'content-type': 'text/html' }, body: '<html><body>Welcome</body></html>' },
        summary: { headers: { 'content-type': 'text/html' }, body: '<html><body>Welcome</body></html>' },
      },
      {
        reachable: ['ok', 'GET models: 200 in TIME', ''],
        key: ['warn', 'not known: no chat was answered', 'See the rows below'],
        model: ['skipped', 'not known: no chat was answered', ''],
        streams: [
          'failed',
          'The answer of the model endpoint is no chat completion: Welcome',
          'Look whether OPENAI_BASE_URL leads to an OpenAI-compatible API (often it ends in /v1)',
        ],
        usage: ['skipped', 'no summary was answered', ''],
        window: ['warn', 'not known: the endpoint does not name it', expect.any(String)],
        summary: [
          'failed',
          'The answer of the model endpoint is no chat completion: Welcome',
          'Look whether OPENAI_BASE_URL leads to an OpenAI-compatible API (often it ends in /v1)',
        ],
      },
      1,
    ],
    [
      'a redirect',
      {
        models: { status: 301, headers: { location: 'https://elsewhere.invalid/v1/models' } },
        chat: { status: 301, headers: { location: 'https://elsewhere.invalid/v1/chat/completions' } },
      },
      {
        ...UNREACHED_ROWS,
        reachable: [
          'failed',
          'GET models: 301, a redirect, which is not followed',
          'Set OPENAI_BASE_URL to the address it leads to, often the same with https://',
        ],
      },
      1,
    ],
  ])('%s', async (_name, endpoint, expected, code) => {
    const examined = await examine(endpoint);
    expect(examined.rows).toEqual(expected);
    expect(examined.code).toBe(code);
    expect(examined.stdout).not.toContain(KEY);
    expect(Math.max(...examined.stdout.split('\n').map((line) => line.length))).toBeLessThanOrEqual(100);
  });

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

  it('shows a setting that cannot be used', async () => {
    const OPENAI_BASE_URL = 'http://example.invalid/v1';
    const run = await runDoctor({ OPENAI_BASE_URL, HTTP_PROXY: 'ftp://proxy', MAIN_MODEL: MODEL });
    expect(tableIn(run.stdout)).toEqual({
      ...UNREACHED_ROWS,
      reachable: ['failed', 'HTTP_PROXY must be the http(s) address of a proxy', 'Correct this setting'],
    });
    expect([run.code, run.stderr]).toEqual([1, '']);
  });

  it('waits for a chat as long as it is told, and no longer', async () => {
    const started = performance.now();
    const { code, rows } = await examine({ chat: 'hang' }, {}, ['--timeout', '0.5']);
    expect(performance.now() - started).toBeLessThan(10_000);
    expect(rows).toEqual({
      ...GOOD_ROWS,
      key: ['warn', 'not known: no chat was answered', 'See the rows below'],
      streams: [
        'failed',
        'POST chat/completions: no answer in time',
        'Local models may load for a minute: run this again with --timeout 120',
      ],
      usage: NO_CHAT,
      summary: NO_CHAT,
    });
    expect(code).toBe(1);
  });

  it('waits for a summary as long as it is told, and no longer', async () => {
    const { code, rows, stdout } = await examine({ summary: 'hang' }, {}, ['--timeout', '0.5']);
    expect(stdout).toMatch(/no summary within [5-9]\d\d ms/);
    expect(rows).toEqual({
      ...GOOD_ROWS,
      usage: ['skipped', 'no summary was answered', ''],
      summary: [
        'failed',
        'no summary within TIME',
        'Local models may load for a minute: run this again with --timeout 120',
      ],
    });
    expect(code).toBe(1);
  });

  it('goes on without a list that hangs', async () => {
    const { code, rows } = await examine({ models: 'hang' }, {}, ['--timeout', '0.5']);
    expect(rows).toEqual({
      ...GOOD_ROWS,
      reachable: ['ok', 'POST chat/completions: 200 in TIME', ''],
      model: ['ok', `${MODEL} answers; there is no list of models`, ''],
      window: ['warn', 'not known: the endpoint does not name it', expect.any(String)],
    });
    expect(code).toBe(0);
  });

  it('tries nothing twice', async () => {
    const { code, rows, server } = await examine({ summary: refusal(500, 'Out of memory') });
    expect(rows['summary']).toEqual([
      'failed',
      'The model endpoint answered 500: Out of memory',
      "Look into the server's log, or wait until it has loaded the model",
    ]);
    expect(server.requests).toHaveLength(4);
    expect(code).toBe(1);
  });

  it('calls an endpoint that says nothing at all not reachable', async () => {
    const { code, rows } = await examine({ models: 'hang', chat: 'hang' }, {}, ['--timeout', '0.3']);
    expect(rows).toEqual({
      ...UNREACHED_ROWS,
      reachable: [
        'failed',
        'no answer in time',
        'Look whether the server is busy or hangs; --timeout SECONDS waits longer',
      ],
    });
    expect(code).toBe(1);
  });

  it('compares a configured window with the served one', async () => {
    const { code, rows } = await examine({}, { MAIN_WINDOW_TOKENS: '128000' });
    expect(rows['window']).toEqual([
      'warn',
      '128,000 tokens, configured; the endpoint says 32,768 (/v1/models, max_model_len)',
      'Load the model with a window of 128,000, or set MAIN_WINDOW_TOKENS=32768',
    ]);
    expect(code).toBe(0);
    const smaller = await examine({}, { MAIN_WINDOW_TOKENS: '16000' });
    expect(smaller.rows['window']).toEqual(['ok', '16,000 tokens, configured', '']);
  });

  it('says so when windows are not to be asked for', async () => {
    const { rows } = await examine({}, { WINDOW_DISCOVERY: 'off' });
    expect(rows['window']?.slice(0, 2)).toEqual([
      'warn',
      'not known: WINDOW_DISCOVERY is off; the endpoint says 32,768 (/v1/models, max_model_len)',
    ]);
  });

  it('needs no key where none is asked for, and names the variable where one is', async () => {
    const open = await examine({}, { OPENAI_API_KEY: '' });
    expect(open.rows['key']).toEqual(['ok', 'none is sent, and none is asked for', '']);
    expect(open.server.requests[0]?.headers['authorization']).toBeUndefined();
    const shut = await examine({ chat: refusal(401, 'Missing key') }, { OPENAI_API_KEY: '' });
    expect(shut.rows['key']).toEqual([
      'failed',
      'The model endpoint answered 401: Missing key',
      'Set OPENAI_API_KEY; no key was sent',
    ]);
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
