import { createParser } from 'eventsource-parser';
import { type Agent, request } from 'undici';
import { field } from '../src/cli/service-target.js';
import { DemoRefused } from './demo-steps.js';

/** What one request to an agent came to. */
export interface DemoTurn {
  readonly sessionId: string;
  /** Calls whose results the agent waits for, by id; empty when it has answered. */
  readonly calls: readonly string[];
  /** What the agent said; empty beside calls, as a rule. */
  readonly text: string;
  /** Tokens of the context that the endpoint received, as it counted them. */
  readonly tokens: number;
  /** Set when the session was compacted before the answer. */
  readonly compaction: { readonly tokensBefore: number } | null;
}

/** Sends one chat request and reads its event stream to the end. */
export async function sendTurn(
  url: URL,
  agent: string,
  body: object,
  dispatcher: Agent,
  signal: AbortSignal,
): Promise<DemoTurn> {
  const path = `/agents/${agent}/chat`;
  const response = await request(new URL(path, url), {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ ...body, stream: true }),
    dispatcher,
    signal,
  });
  const text = await response.body.text();
  if (response.statusCode !== 200) throw new DemoRefused(`POST ${path}: ${text}`);
  const events = parseEvents(text);
  const end = events.get('turn-completed');
  if (end === undefined) {
    throw new DemoRefused(`POST ${path}: ${JSON.stringify(events.get('error') ?? 'the stream broke off')}`);
  }
  const calls = field(end, 'toolCalls');
  const done = field(end, 'compaction');
  return {
    sessionId: String(field(end, 'sessionId')),
    calls: Array.isArray(calls) ? calls.map((call) => String(field(call, 'id'))) : [],
    text: String(field(field(end, 'message'), 'content') ?? ''),
    tokens: Number(field(field(end, 'usage'), 'inputTokens')),
    compaction:
      done === undefined
        ? null
        : { tokensBefore: Number(field(events.get('compaction-started'), 'estimatedTokens')) },
  };
}

/** The first event of each name: of the names that are looked at, a turn without repairs has at most one. */
function parseEvents(text: string): Map<string, unknown> {
  const events = new Map<string, unknown>();
  const parser = createParser({
    onEvent: ({ event = 'message', data }) => {
      if (!events.has(event)) events.set(event, JSON.parse(data));
    },
  });
  parser.feed(text);
  return events;
}
