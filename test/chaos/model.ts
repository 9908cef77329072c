import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Figures } from './figures.js';
import { marksIn, newMark, repeated } from './marks.js';
import type { Random } from './random.js';

/** A model call of a turn: what its context held. */
export interface SeenCall {
  readonly seen: readonly string[];
  /** The mark of the message that the context ended with. */
  readonly last: string;
}

interface Asked {
  readonly model: string;
  readonly messages: readonly { readonly role: string; readonly content: string }[];
  readonly tools?: readonly { readonly function: { readonly name: string } }[];
}

export interface ChaosModel {
  readonly url: string;
  /** Calls of turns, by the mark of the reply. */
  readonly calls: ReadonlyMap<string, SeenCall>;
  /** What was asked for that never should be. */
  readonly faults: readonly string[];
  /** Answers at once and without failures from here on. */
  calm(): void;
  stop(): Promise<void>;
}

/** Says in a message that the reply is to call a tool. */
export const USE_TOOL = 'use the tool';
export const SUMMARY_MODEL = 'summary-model';

/**
 * A model endpoint that tells what it was given. A reply to a turn has a mark of its own, under which the marks of the
 * context are kept. A summary is the list of marks: those of the summary before, then those of the transcript, each as
 * often as it is there.
 */
export async function startModel(random: Random, figures: Figures): Promise<ChaosModel> {
  const calls = new Map<string, SeenCall>();
  const faults: string[] = [];
  let isCalm = false;

  const answer = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    let text = '';
    for await (const chunk of request) text += String(chunk);
    const asked: Asked = JSON.parse(text === '' ? '{}' : text);
    const isSummary = asked.model === SUMMARY_MODEL;
    figures.count('model calls', isSummary ? 'summary' : 'turn');
    // Before the wait: a call counts when it comes, whatever becomes of it.
    const reply = isSummary ? summary(asked, faults) : turn(asked, calls, faults, random);
    const gone = new AbortController();
    response.once('close', () => gone.abort());
    const mood = isCalm ? 'prompt' : random.weighted({ prompt: 50, slow: 36, slower: 10, failing: 4 });
    const ms = { prompt: [1, 60], slow: [100, 600], slower: [1_000, 3_500], failing: [1, 100] }[mood];
    await sleep(random.int(ms[0] ?? 0, ms[1] ?? 0), undefined, { signal: gone.signal }).catch(() => {});
    if (gone.signal.aborted) figures.count('model calls', 'left by the node');
    const status = mood === 'failing' ? random.pick([500, 503, 429]) : 200;
    response.writeHead(status, { 'content-type': 'application/json' });
    response.end(status === 200 ? JSON.stringify(completion(reply)) : '{"error":{"message":"not now"}}');
  };

  const server = createServer((request, response) => {
    answer(request, response).catch((error: unknown) => {
      if (!request.destroyed) faults.push(`the model failed: ${String(error)}`);
      response.destroy();
    });
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('no port');
  return {
    url: `http://127.0.0.1:${address.port}`,
    calls,
    faults,
    calm: () => {
      isCalm = true;
    },
    stop: async () => {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };
}

function summary({ messages }: Asked, faults: string[]): object {
  // All quoted text is fenced by tags, and nothing else of the prompt has marks.
  const marks = marksIn(messages.at(-1)?.content ?? '');
  if (marks.length === 0) faults.push('a summary was asked for of nothing');
  const twice = repeated(marks);
  if (twice.length > 0) faults.push(`a summary was asked for that has ${twice.join(' ')} already`);
  return { role: 'assistant', content: marks.join('\n') };
}

function turn(
  { messages, tools = [] }: Asked,
  calls: Map<string, SeenCall>,
  faults: string[],
  random: Random,
) {
  const seen = marksIn(JSON.stringify(messages.map(({ content }) => content)));
  const last = marksIn(JSON.stringify(messages.at(-1)?.content)).at(-1) ?? '';
  const twice = repeated(seen);
  if (twice.length > 0) faults.push(`a context had ${twice.join(' ')} more than once`);
  const mark = newMark('reply');
  calls.set(mark, { seen, last });
  const content = `${mark} from the model. ${'It goes on about this and that. '.repeat(random.int(0, 8))}`;
  const end = messages.at(-1);
  const wantsTool =
    end?.role === 'tool' ? random.chance(0.3) : JSON.stringify(end?.content).includes(USE_TOOL);
  if (!wantsTool || tools.length === 0) return { role: 'assistant', content };
  const called = Array.from({ length: random.int(1, 2) }, (_, index) => ({
    id: `call_${mark.slice(3, -1)}_${index}`,
    type: 'function',
    // What a subagent is told has no mark, since it would be another message's.
    function: { name: random.pick(tools).function.name, arguments: '{"input":"Look into it."}' },
  }));
  return { role: 'assistant', content, tool_calls: called };
}

function completion(message: object): object {
  return {
    id: 'chatcmpl-1',
    object: 'chat.completion',
    model: 'chaos',
    choices: [{ index: 0, message, finish_reason: 'tool_calls' in message ? 'tool_calls' : 'stop' }],
    usage: { prompt_tokens: 100, completion_tokens: 10, total_tokens: 110 },
  };
}
