import { readFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { Agent } from 'undici';
import type { GivenDefinition } from '../src/agents/definition.js';
import { httpTarget } from '../src/cli/http-target.js';
import { count, counted } from '../src/cli/number-text.js';
import { VARIABLE_NAMES } from '../src/config.js';
import { COLOURED, chartHead, chartLine, PLAIN } from './context-chart.js';
import { heading, paragraph } from './demo-report.js';
import { startDemoService } from './demo-service.js';
import { DemoRefused, readSession, waitUntilReady } from './demo-steps.js';
import { type DemoTurn, sendTurn } from './demo-turns.js';
import { startExampleEndpoint } from './example-endpoint.js';
import { type RecordedConversation, readConversation } from './recorded-conversation.js';

const AGENT = 'ferry-clerk';
const AGENTS_DIR = fileURLToPath(new URL('../examples/agents', import.meta.url));
/** Tokens: low enough that the conversation crosses it several times. */
const LIMIT = 3_000;
/** So that the summary, too, fits a limit this low. */
const SUMMARY_CHARS = 2_400;
/** Of the summary, how much is shown at the end. */
const SUMMARY_LINES = 12;

const print = (...lines: readonly string[]) => process.stdout.write(`${lines.join('\n')}\n`);

/** A conversation with the example agent, at the example endpoint: its context grows, and is folded by itself. */
export async function chatDemo(signal: AbortSignal): Promise<void> {
  const endpoint = await startExampleEndpoint(0);
  try {
    const server = await startDemoService(signal, environment(endpoint.url));
    const service = httpTarget(server.url, { timeoutMs: 30_000, signal });
    const dispatcher = new Agent();
    try {
      await waitUntilReady(service);
      await defineAgent(server.url, dispatcher, signal);
      const paint =
        process.stdout.isTTY === true && (process.env['NO_COLOR'] ?? '') === '' ? COLOURED : PLAIN;
      print(
        heading(
          `compactd demo: a chat with the agent ${AGENT}, compacted by itself over ${count(LIMIT)} tokens`,
        ),
      );
      print(`Service    ${server.url.origin}`, `Database   ${server.database}, removed at the end`);
      print(`Endpoint   ${endpoint.url}, a script that plays examples/ferry-booking.json`, '');
      print(chartHead(LIMIT, paint));

      const conversation = await readConversation();
      const send = (body: object) => sendTurn(server.url, AGENT, body, dispatcher, signal);
      let sessionId: string | null = null;
      for (const [index, message] of conversation.questions.entries()) {
        const { steps, end } = await wholeTurn(send, message, sessionId, conversation);
        sessionId = end.sessionId;
        const compacted = steps.find(({ compaction }) => compaction !== null)?.compaction ?? null;
        const tokensBefore = compacted?.tokensBefore ?? null;
        print(chartLine({ turn: index + 1, tokens: end.tokens, tokensBefore, note: message }, LIMIT, paint));
      }
      if (sessionId === null) throw new DemoRefused('the conversation has no message of a user');
      const { summary, messageCount, compactSize } = await readSession(service, sessionId);
      print(
        '',
        `All ${counted(messageCount, 'message')} are stored, word for word. The summary covers ${count(compactSize)} of them.`,
        '',
      );
      print(
        heading('The summary begins'),
        ...paragraph(summary ?? '(none)').slice(0, SUMMARY_LINES),
        '  ...',
      );
    } finally {
      await dispatcher.destroy();
      await service.close();
      await server.stop();
    }
  } finally {
    await endpoint.stop();
  }
}

/** One message of the user, and the results of the tools that are called for it, until the agent has answered. */
async function wholeTurn(
  send: (body: object) => Promise<DemoTurn>,
  message: string,
  sessionId: string | null,
  conversation: RecordedConversation,
): Promise<{ steps: readonly DemoTurn[]; end: DemoTurn }> {
  let end = await send(sessionId === null ? { message } : { message, sessionId });
  const steps = [end];
  while (end.calls.length > 0) {
    const toolResults = end.calls.map((toolCallId) => {
      const content = conversation.resultOf(toolCallId);
      if (content === null) throw new DemoRefused(`there is no result for the call ${toolCallId}`);
      return { toolCallId, content };
    });
    end = await send({ sessionId: end.sessionId, toolResults });
    steps.push(end);
  }
  return { steps, end };
}

/** The agent of the examples, with a limit that a short conversation reaches. */
async function defineAgent(url: URL, dispatcher: Agent, signal: AbortSignal): Promise<void> {
  const file = await readFile(`${AGENTS_DIR}/${AGENT}.json`, 'utf8');
  const definition: GivenDefinition = JSON.parse(file);
  const { defaultCompaction = { compactionCount: 50 } } = definition;
  const lowered = { ...definition, defaultCompaction: { ...defaultCompaction, auto: { maxTokens: LIMIT } } };
  const response = await dispatcher.request({
    origin: url.origin,
    path: `/agents/${AGENT}`,
    method: 'PUT',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(lowered),
    signal,
  });
  const text = await response.body.text();
  if (response.statusCode > 201) throw new DemoRefused(`PUT /agents/${AGENT}: ${text}`);
}

/** The example endpoint and nothing else, whatever this process is configured with. */
function environment(url: string): NodeJS.ProcessEnv {
  const unset = Object.fromEntries(VARIABLE_NAMES.map((name) => [name, undefined]));
  const SUMMARY_MAX_CHARS = String(SUMMARY_CHARS);
  return { ...unset, AGENTS_DIR, SUMMARY_MAX_CHARS, MAIN_MODEL: 'example', OPENAI_BASE_URL: url };
}
