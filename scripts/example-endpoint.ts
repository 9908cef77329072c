import { type ChatCompletionRequest, type FixtureResponse, LLMock } from '@copilotkit/aimock';
import type { ChatMessage } from '../src/compaction/measure.js';
import { extractSummary } from '../src/summarizer/extract.js';
import { createTokenEstimator, type TokenEstimator } from '../src/tokens/estimate.js';
import { type RecordedConversation, readConversation } from './recorded-conversation.js';

export interface ExampleEndpoint {
  /** What `OPENAI_BASE_URL` is set to. */
  readonly url: string;
  stop(): Promise<void>;
}

const SMALL_TALK =
  'I am the example endpoint of compactd: no model, just a script. I know the answers of the ferry clerk in ' +
  'examples/ferry-booking.json; to everything else I say this.';

/**
 * A model endpoint without a model, on 127.0.0.1: to what the user says in the bundled conversation it gives the
 * answers of that conversation, tool calls included. It writes summaries by choosing sentences, as the embedded
 * summarizer does, and counts tokens as the service estimates them.
 *
 * @param port 0 takes a free one
 * @param pieceMs time between two pieces of a streamed reply
 */
export async function startExampleEndpoint(port: number, pieceMs = 0): Promise<ExampleEndpoint> {
  const conversation = await readConversation();
  const estimator = await createTokenEstimator();
  const mock = new LLMock({ host: '127.0.0.1', port, latency: pieceMs, journalMaxEntries: 1 });
  mock.on({ predicate: () => true }, (request) => reply(request, conversation, estimator));
  const url = await mock.start();
  return { url: `${url}/v1`, stop: () => mock.stop() };
}

function reply(
  { messages, tools = [] }: ChatCompletionRequest,
  conversation: RecordedConversation,
  estimator: TokenEstimator,
): FixtureResponse {
  const received: ChatMessage[] = JSON.parse(JSON.stringify(messages));
  const answer = answerTo(received, conversation);
  const prompt = estimator.ofMessages(received) + estimator.ofTools(tools);
  const completion = estimator.ofMessages([answer]);
  const usage = { prompt_tokens: prompt, completion_tokens: completion, total_tokens: prompt + completion };
  const content = String(answer.content ?? '');
  const toolCalls = (answer.tool_calls ?? []).map(({ id = '', function: called }) => ({
    id,
    name: called?.name ?? '',
    arguments: called?.arguments ?? '{}',
  }));
  if (toolCalls.length === 0) return { content, usage };
  return content === '' ? { toolCalls, usage } : { content, toolCalls, usage };
}

function answerTo(messages: readonly ChatMessage[], conversation: RecordedConversation): ChatMessage {
  const last = messages.at(-1);
  const summary = typeof last?.content === 'string' ? summaryFor(last.content) : null;
  if (summary !== null) return { role: 'assistant', content: summary };
  const recorded = last === undefined ? null : conversation.answerTo(last);
  return recorded ?? { role: 'assistant', content: SMALL_TALK };
}

/** The summary that a prompt asks for; null when it asks for none. */
function summaryFor(prompt: string): string | null {
  const quoted = (name: string) =>
    new RegExp(`<${name}-([0-9a-f]{12})>\\n(.*)\\n</${name}-\\1>`, 's').exec(prompt)?.[2] ?? null;
  const transcript = quoted('transcript');
  const previousSummary = quoted('summary');
  if (transcript === null && previousSummary === null) return null;
  const maxChars = Number(/at most (\d+) characters/.exec(prompt)?.[1] ?? 2_000);
  return extractSummary({
    previousSummary,
    transcript: transcript ?? '',
    instructions: quoted('wishes'),
    maxChars,
  });
}
