import { describe, expect, it } from 'vitest';
import { type ChatMessage, measure } from '../../src/compaction/measure.js';
import { type Conversation, conversations } from '../support/conversations.js';
import { text } from '../support/messages.js';
import { type ModelStub, type StubReply, startModelStub } from '../support/model-stub.js';
import { startService, type TestService } from '../support/service.js';
import { strictViolation } from '../support/strict.js';

/** What somebody sends to the agent: a message, results of calls, or both. */
interface Sent {
  readonly message?: string;
  readonly toolResults?: { toolCallId: string; content: string }[];
}

/** One request of a client, and the replies that the model gives before the turn is back with the client. */
interface Exchange {
  readonly sent: Sent;
  readonly reply: ChatMessage;
}

/**
 * A recorded conversation as exchanges. Messages of a user that follow each other are sent as one, and a user who
 * speaks after results sends both together.
 */
function exchangesOf(messages: readonly ChatMessage[]): Exchange[] {
  const exchanges: Exchange[] = [];
  let said: string[] = [];
  let results: { toolCallId: string; content: string }[] = [];
  for (const message of messages) {
    const content = typeof message.content === 'string' ? message.content : '';
    if (message.role === 'user') said.push(content === '' ? '(nothing)' : content);
    else if (message.role === 'tool') results.push({ toolCallId: message.tool_call_id ?? '', content });
    else if (message.role === 'assistant') {
      const sent = {
        ...(said.length === 0 ? {} : { message: said.join('\n') }),
        ...(results.length === 0 ? {} : { toolResults: results }),
      };
      exchanges.push({ sent, reply: message });
      said = [];
      results = [];
    }
  }
  return exchanges;
}

function stubReply({ content, tool_calls: calls }: ChatMessage): StubReply {
  if (!calls?.length)
    return { content: typeof content === 'string' && content !== '' ? content : '(nothing)' };
  return {
    content: typeof content === 'string' && content !== '' ? content : null,
    message: { tool_calls: calls },
    finish: 'tool_calls',
    usage: null,
  };
}

/** What the strictest servers say to a list that they do not take. */
const COMPLAINT: StubReply = {
  status: 400,
  body: {
    error: {
      message: 'Conversation roles must alternate user/assistant/user/assistant/...',
      type: 'invalid_request_error',
    },
  },
};

interface Replayed {
  readonly stored: readonly ChatMessage[];
  readonly expected: readonly ChatMessage[];
  readonly refused: number;
  readonly summaries: ModelStub;
  readonly service: TestService;
  readonly sessionId: string;
}

async function replay({ messages }: Conversation, maxTokens: number): Promise<Replayed> {
  const exchanges = exchangesOf(messages);
  let turn = 0;
  let refused = 0;
  const chat = await startModelStub((_, __, { body }) => {
    const sent: { messages: ChatMessage[] } = JSON.parse(body);
    if (strictViolation(sent.messages) !== null) {
      refused += 1;
      return COMPLAINT;
    }
    const reply = exchanges[turn]?.reply;
    if (reply === undefined) throw new RangeError('the conversation is over');
    return stubReply(reply);
  });
  const summaries = await startModelStub((_, index) => ({ content: text(600, `Summary ${index}: `) }));
  const service = await startService({
    OPENAI_BASE_URL: chat.url,
    MAIN_MODEL: 'main-1',
    COMPACT_BASE_URL: summaries.url,
    COMPACT_MODEL: 'sum-1',
    WINDOW_DISCOVERY: 'off',
  });
  const systemPrompt = messages.find(({ role }) => role === 'system')?.content ?? 'You help.';
  await service.call('PUT', '/agents/replayed', {
    systemPrompt,
    defaultCompaction: { compactionCount: 50, auto: { maxTokens } },
  });
  const expected: ChatMessage[] = [];
  let sessionId: string | undefined;
  for (const { sent, reply } of exchanges) {
    const answer = await service.call('POST', '/agents/replayed/chat', {
      ...sent,
      ...(sessionId === undefined ? {} : { sessionId }),
    });
    expect([turn, answer.status, answer.body.code]).toEqual([turn, 200, undefined]);
    sessionId = answer.body.sessionId;
    for (const { toolCallId, content } of sent.toolResults ?? []) {
      expected.push({ role: 'tool', tool_call_id: toolCallId, content });
    }
    if (sent.message !== undefined) expected.push({ role: 'user', content: sent.message });
    const { content = null, message = {} } = stubReply(reply);
    expected.push({ role: 'assistant', content: typeof content === 'string' ? content : null, ...message });
    turn += 1;
  }
  const id = sessionId ?? '';
  return { stored: await service.messages(id), expected, refused, summaries, service, sessionId: id };
}

const comparable = (messages: readonly ChatMessage[]) =>
  messages.map(({ role, content = null, tool_call_id: id, tool_calls: calls }) => ({
    role,
    content,
    id,
    calls: calls?.map(({ id: callId, function: called }) => [callId, called?.name, called?.arguments]),
  }));

const charsOf = (messages: readonly ChatMessage[]) =>
  messages.reduce((sum, message) => sum + measure(message).chars, 0);

describe('recorded conversations through chat, with automatic compaction', () => {
  for (const conversation of conversations()) {
    const long = conversation.messages.length > 200;
    for (const maxTokens of long ? [20_000, 60_000, 150_000] : [2_000, 2_800, 4_000]) {
      it(`${conversation.id} within ${maxTokens} tokens`, { timeout: 240_000 }, async () => {
        const { stored, expected, refused, summaries, service, sessionId } = await replay(
          conversation,
          maxTokens,
        );
        expect(comparable(stored)).toEqual(comparable(expected));
        // An endpoint complains once of each kind; what it wants is remembered.
        expect(refused).toBeLessThanOrEqual(2);
        const session = (await service.call('GET', `/sessions/${sessionId}`)).body;
        expect(session.auto_compaction.state).toBe('on');
        expect(session.compact_size > 0).toBe(summaries.prompts.length > 0);
        const small = long ? maxTokens <= 60_000 : maxTokens <= 2_000 && charsOf(stored) > 9_000;
        if (small) expect(summaries.prompts.length).toBeGreaterThan(0);
      });
    }
  }
});
