import { Agent, request } from 'undici';
import type { Benchmark } from './lib/benchmark.js';
import { restoreSession } from './lib/chat-sessions.js';
import { startBenchServer, startService } from './lib/child-process.js';
import { sessionId } from './lib/dataset.js';
import { NaiveChat } from './lib/naive-chat.js';
import { information, ms, type ReportRow, ratioAtMost } from './lib/report.js';
import { sampleMessage } from './lib/sample-messages.js';
import { interleaved, medianTime } from './lib/statistics.js';

/** Stored messages, two of which are system messages; of 10 there are not 50 to be open. */
const SIZES = [10, 1_000, 100_000] as const;
type Size = (typeof SIZES)[number];
const SMALLEST = SIZES[0];
const OPEN_MESSAGES = 50;
const ROUNDS = 7;
/** Turns per round: each adds two messages, which are taken back before the next round. */
const TURNS = 10;
const NAIVE_TURNS = { 10: 10, 1000: 10, 100000: 1 } as const;
const MOST = 1.5;
/** Chars of the stub's reply, which are also its model's name. */
const REPLY_CHARS = '200';
const MESSAGE = 'And how is the weather on the route? Name the wind in knots.';
/** `auto` counts the tokens of each context and never finds too many. */
const AGENTS: Readonly<Record<string, object>> = {
  off: {},
  auto: { defaultCompaction: { compactionCount: 50, auto: { maxTokens: 10_000_000 } } },
};

/**
 * Own time of a chat turn over HTTP: what is left of it without the time that the same model request takes when it
 * is sent to the same stub directly. It must not grow with what is folded already.
 */
export const chat: Benchmark = {
  name: 'chat',
  async run(workspace) {
    const path = await workspace.seededDatabase();
    const stub = await startBenchServer('model-server.ts', {});
    const stubUrl = `http://127.0.0.1:${stub.port}/v1`;
    const service = await startService(path, {
      MAIN_MODEL: REPLY_CHARS,
      OPENAI_BASE_URL: stubUrl,
      WINDOW_DISCOVERY: 'off',
    });
    const url = `http://127.0.0.1:${service.port}`;
    const client = new Agent();
    const naive = new NaiveChat(workspace.emptyDatabase(), OPEN_MESSAGES);
    try {
      const send = async (method: 'GET' | 'PUT' | 'POST', target: string, body?: object) => {
        const response = await request(target, {
          method,
          dispatcher: client,
          headers: { 'content-type': 'application/json' },
          ...(body === undefined ? {} : { body: JSON.stringify(body) }),
        });
        const text = await response.body.text();
        if (response.statusCode > 299) throw new Error(`${method} ${target}: ${text}`);
        return text;
      };
      const askStub = async (messages: readonly unknown[]) => {
        await send('POST', `${stubUrl}/chat/completions`, { model: REPLY_CHARS, messages, stream: true });
      };
      for (const [name, definition] of Object.entries(AGENTS)) {
        await send('PUT', `${url}/agents/${name}`, definition);
      }
      const messages = Array.from({ length: SMALLEST }, (_, seq) => sampleMessage(seq));
      await send('POST', `${url}/sessions`, { id: idOf(SMALLEST), messages });

      const cases: Record<string, () => Promise<number>> = {};
      for (const size of SIZES) {
        const restore = () => restoreSession(path, idOf(size), size, OPEN_MESSAGES);
        for (const agent of Object.keys(AGENTS)) {
          cases[`${agent} ${size}`] = async () => {
            restore();
            const body = { sessionId: idOf(size), message: MESSAGE };
            return medianTime(TURNS, () => send('POST', `${url}/agents/${agent}/chat`, body));
          };
        }
        cases[`stub ${size}`] = async () => {
          restore();
          const text = await send('GET', `${url}/sessions/${idOf(size)}/context`);
          const context: { messages: readonly unknown[] } = JSON.parse(text);
          return medianTime(TURNS, () => askStub(context.messages));
        };
        cases[`naive ${size}`] = async () => {
          naive.restore(size);
          return medianTime(NAIVE_TURNS[size], () => naive.turn(size, MESSAGE, askStub));
        };
      }
      await interleaved(1, cases);
      const times = await interleaved(ROUNDS, cases);
      return rowsOf(times);
    } finally {
      naive.close();
      await client.destroy();
      await Promise.all([service.stop(), stub.stop()]);
    }
  },
};

/** The two longer ones are there, with a session of each size that benchmarks compare. */
function idOf(size: Size): string {
  return size === SMALLEST ? 'bench-10' : sessionId(size);
}

function rowsOf(times: Readonly<Record<string, number>>): ReportRow[] {
  const own = (way: string, size: Size) => (times[`${way} ${size}`] ?? 0) - (times[`stub ${size}`] ?? 0);
  const measured = (way: string) => SIZES.map((size) => `${size}: ${ms(own(way, size))}`).join(', ');
  const ratio = (way: string, size: Size, to: Size = SMALLEST) => own(way, size) / own(way, to);
  const stub = SIZES.map((size) => `${size}: ${ms(times[`stub ${size}`] ?? 0)}`).join(', ');
  return [
    ...Object.keys(AGENTS).flatMap((agent) => {
      const name = `chat turn, automatic compaction ${agent === 'auto' ? 'on' : 'off'}`;
      return [
        ratioAtMost(`${name}, 1,000 : 10`, measured(agent), ratio(agent, 1_000), MOST),
        ratioAtMost(`${name}, 100,000 : 10`, '', ratio(agent, 100_000), MOST),
        ratioAtMost(`${name}, 100,000 : 1,000`, 'the same number open', ratio(agent, 100_000, 1_000), MOST),
      ];
    }),
    information('chat turn, naive, 1,000 : 10', measured('naive'), ratio('naive', 1_000)),
    information('chat turn, naive, 100,000 : 10', '', ratio('naive', 100_000)),
    information('chat turn, request to the stub alone', stub),
  ];
}
