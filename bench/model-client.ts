import OpenAI from 'openai';
import type { EndpointConfig } from '../src/llm/endpoint.js';
import type { Benchmark } from './lib/benchmark.js';
import { built } from './lib/built.js';
import { startBenchServer } from './lib/child-process.js';
import { ms, ratioAtMost } from './lib/report.js';
import { interleaved } from './lib/statistics.js';

const ROUNDS = 5;
/** Chars of the reply, and calls per round. */
const SIZES = { '1 KB': [1_024, 200], '1 MB': [1_048_576, 1] } as const;
const MOST = 1;

/** What a model call costs this process: the server is another one, so its time is not in the figures. */
export const modelClient: Benchmark = {
  name: 'model-client',
  async run() {
    const { createChatClient } = await built<typeof import('../src/llm/client.js')>('llm/client.js');
    const server = await startBenchServer('model-server.ts', {});
    const baseUrl = `http://127.0.0.1:${server.port}/v1`;
    const ours = createChatClient(endpointAt(baseUrl));
    const openai = new OpenAI({ baseURL: baseUrl, apiKey: 'key', maxRetries: 0 });
    const messages = [{ role: 'user' as const, content: 'Hello' }];
    const { signal } = new AbortController();

    const readWithOurs = async (model: string): Promise<string> => {
      const { outcome } = await ours.complete({ model, messages, signal });
      return outcome.kind === 'ok' ? outcome.text : '';
    };
    const readWithOpenAi = async (model: string): Promise<string> => {
      const stream = await openai.chat.completions.create({
        model,
        messages,
        stream: true,
        stream_options: { include_usage: true },
      });
      let text = '';
      for await (const chunk of stream) text += chunk.choices[0]?.delta?.content ?? '';
      return text;
    };

    try {
      const cases: Record<string, () => Promise<number>> = {};
      for (const [name, [chars, calls]] of Object.entries(SIZES)) {
        cases[`ours ${name}`] = () => ownTime(calls, chars, readWithOurs);
        cases[`openai ${name}`] = () => ownTime(calls, chars, readWithOpenAi);
      }
      await interleaved(2, cases);
      const times = await interleaved(ROUNDS, cases);
      return Object.keys(SIZES).map((name) => {
        const [own = 0, theirs = 0] = [times[`ours ${name}`], times[`openai ${name}`]];
        const measured = `own time per call: ${ms(own)}, openai ${ms(theirs)}`;
        return ratioAtMost(`model client, ${name} streamed`, measured, own / theirs, MOST);
      });
    } finally {
      await ours.close();
      await server.stop();
    }
  },
};

/** Processor time of this process per call, in ms: what waiting costs is not in it. */
async function ownTime(
  calls: number,
  chars: number,
  read: (model: string) => Promise<string>,
): Promise<number> {
  const before = process.cpuUsage();
  for (let call = 0; call < calls; call += 1) {
    const text = await read(String(chars));
    if (text.length !== chars) throw new Error(`a reply of ${text.length} chars instead of ${chars}`);
  }
  const { user, system } = process.cpuUsage(before);
  return (user + system) / 1_000 / calls;
}

function endpointAt(baseUrl: string): EndpointConfig {
  return {
    baseUrl,
    apiKey: 'key',
    authHeader: 'bearer',
    extraHeaders: {},
    extraBody: {},
    apiVersion: null,
    model: 'bench',
    windowTokens: null,
    maxOutputTokens: null,
    connectTimeoutMs: 10_000,
    firstByteTimeoutMs: 300_000,
    silenceTimeoutMs: 120_000,
    totalTimeoutMs: 900_000,
    retries: 0,
  };
}
