import { GOOD_SUMMARY, json, MODEL, plain, refusal, stream } from './harness.js';
import {
  type Case,
  EXHAUSTED,
  NO_API,
  NO_CHAT,
  NO_SUMMARY,
  ok,
  SLOW_LOAD,
  UNKNOWN_KEY,
  UNKNOWN_MODEL,
  UNNAMED_WINDOW,
  UNREACHED_ROWS,
} from './rows.js';

const NO_CREDIT = json(
  { error: { message: 'You exceeded your current quota', code: 'insufficient_quota' } },
  429,
);
const PAGE = { headers: { 'content-type': 'text/html' }, body: '<html><body>Welcome</body></html>' };
const redirect = (path: string) => ({
  status: 301,
  headers: { location: `https://elsewhere.invalid/v1/${path}` },
});

export const ANSWERS: readonly Case[] = [
  {
    name: 'no stream',
    endpoint: { chat: plain('ok'), summary: plain(GOOD_SUMMARY) },
    rows: {
      streams: [
        'warn',
        'a stream was asked for, the reply came in one piece',
        'It works. Turn streaming on in the server or gateway, or allow for slow replies with the timeouts',
      ],
    },
    code: 0,
  },
  {
    name: 'no usage',
    endpoint: { summary: stream(GOOD_SUMMARY, { usage: false }) },
    rows: {
      usage: [
        'warn',
        'not reported',
        'Costs are not recorded, and a prompt that the server cuts is not noticed',
      ],
    },
    code: 0,
  },
  {
    name: 'an account without credit',
    endpoint: { chat: NO_CREDIT, summary: NO_CREDIT },
    rows: { streams: EXHAUSTED, usage: NO_SUMMARY, summary: EXHAUSTED },
    code: 1,
  },
  {
    name: 'a page instead of an API',
    endpoint: { models: PAGE, chat: PAGE, summary: PAGE },
    rows: {
      key: UNKNOWN_KEY,
      model: UNKNOWN_MODEL,
      streams: NO_API,
      usage: NO_SUMMARY,
      window: UNNAMED_WINDOW,
      summary: NO_API,
    },
    code: 1,
  },
  {
    name: 'a redirect',
    endpoint: { models: redirect('models'), chat: redirect('chat/completions') },
    rows: {
      ...UNREACHED_ROWS,
      reachable: [
        'failed',
        'GET models: 301, a redirect, which is not followed',
        'Set OPENAI_BASE_URL to the address it leads to, often the same with https://',
      ],
    },
    code: 1,
  },
  {
    name: 'a server that fails, which is not asked twice',
    endpoint: { summary: refusal(500, 'Out of memory') },
    rows: {
      usage: NO_SUMMARY,
      summary: [
        'failed',
        'The model endpoint answered 500: Out of memory',
        "Look into the server's log, or wait until it has loaded the model",
      ],
    },
    code: 1,
    requests: 4,
  },
];

export const HANGS: readonly Case[] = [
  {
    name: 'a chat that hangs is waited for as long as it is told, and no longer',
    endpoint: { chat: 'hang' },
    args: ['--timeout', '0.5'],
    rows: {
      ...NO_CHAT,
      key: UNKNOWN_KEY,
      streams: ['failed', 'POST chat/completions: no answer in time', SLOW_LOAD],
    },
    code: 1,
  },
  {
    name: 'a summary that hangs is waited for as long as it is told, and no longer',
    endpoint: { summary: 'hang' },
    args: ['--timeout', '0.5'],
    rows: { usage: NO_SUMMARY, summary: ['failed', 'no summary within TIME', SLOW_LOAD] },
    code: 1,
    says: /no summary within [5-9]\d\d ms/,
  },
  {
    name: 'a list that hangs stops nothing',
    endpoint: { models: 'hang' },
    args: ['--timeout', '0.5'],
    rows: {
      reachable: ok('POST chat/completions: 200 in TIME'),
      model: ok(`${MODEL} answers; there is no list of models`),
      window: UNNAMED_WINDOW,
    },
    code: 0,
  },
  {
    name: 'an endpoint that says nothing at all is not reachable',
    endpoint: { models: 'hang', chat: 'hang' },
    args: ['--timeout', '0.3'],
    rows: {
      ...UNREACHED_ROWS,
      reachable: [
        'failed',
        'no answer in time',
        'Look whether the server is busy or hangs; --timeout SECONDS waits longer',
      ],
    },
    code: 1,
  },
];
