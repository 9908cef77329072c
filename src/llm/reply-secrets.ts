import { randomUUID } from 'node:crypto';
import { addressingOf } from './addressing.js';
import { cleanJson, cleanJsonText } from './clean-json.js';
import type { EndpointConfig } from './endpoint.js';
import { isRecord } from './narrow.js';
import type { Outcome, ToolCall } from './outcome.js';
import { secretForms } from './secret-forms.js';
import { TextMask, type TextStream } from './text-mask.js';

/** Of anything, in chars. */
const SHORTEST_SECRET = 16;
/** Of letters and digits, in chars. */
const SHORTEST_MIXED_SECRET = 12;

/** Takes the endpoint's own secrets out of what it says. */
export interface ReplyRedactor {
  readonly outcome: (outcome: Outcome) => Outcome;
  /** For the text of one reply while it comes; what it gives out adds up to the text of the redacted outcome. */
  readonly stream: () => TextStream;
}

/** For those who take replies as a whole. */
export function createReplyRedactor(endpoint: EndpointConfig): (outcome: Outcome) => Outcome {
  return createStreamRedactor(endpoint).outcome;
}

/**
 * Takes the endpoint's own key, and the values of its configured headers, out of replies. An endpoint that quotes
 * what it was sent would otherwise put them where they are stored and read by everybody.
 */
export function createStreamRedactor(endpoint: EndpointConfig): ReplyRedactor {
  const mask = new TextMask(secretForms(addressingOf(endpoint).secrets.filter(looksSecret)));
  const clean = (text: string) => mask.whole(text);
  const cleanOrNull = (text: string | null) => (text === null ? null : clean(text));
  return {
    outcome: (outcome) => {
      if (outcome.kind !== 'ok') return outcome;
      const { text, refusal, toolCalls, reasoning, finishReason, model } = outcome;
      return {
        ...outcome,
        text: clean(text),
        refusal: cleanOrNull(refusal),
        finishReason: cleanOrNull(finishReason),
        model: cleanOrNull(model),
        toolCalls: toolCalls.map((call) => cleanCall(call, clean)),
        ...(reasoning === undefined ? {} : { reasoning: clean(reasoning) }),
      };
    },
    stream: () => mask.stream(),
  };
}

/**
 * Local servers take any word as a key, such as `password123` or `not-needed`. It protects nothing, and a reply without
 * it would say something else.
 */
function looksSecret(value: string): boolean {
  if (value.length >= SHORTEST_SECRET) return true;
  return value.length >= SHORTEST_MIXED_SECRET && /\p{L}/u.test(value) && /\p{N}/u.test(value);
}

function cleanCall(call: ToolCall, clean: (text: string) => string): ToolCall {
  const { id, name, arguments: args, extra } = call;
  const cleaned = {
    ...call,
    // Whole or not at all: ids are compared, and two that only differ in a secret must stay two.
    id: clean(id) === id ? id : `call_${randomUUID()}`,
    name: clean(name),
    arguments: cleanJsonText(args, clean),
  };
  return extra === undefined ? cleaned : { ...cleaned, extra: cleanMembers(extra, clean) };
}

function cleanMembers(
  members: Readonly<Record<string, unknown>>,
  clean: (text: string) => string,
): Readonly<Record<string, unknown>> {
  const cleaned = cleanJson(members, clean);
  return isRecord(cleaned) ? cleaned : {};
}
