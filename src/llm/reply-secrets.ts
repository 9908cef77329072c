import { randomUUID } from 'node:crypto';
import { addressingOf } from './addressing.js';
import { cleanJson, cleanJsonText } from './clean-json.js';
import type { EndpointConfig } from './endpoint.js';
import { isRecord } from './narrow.js';
import type { Outcome, ToolCall } from './outcome.js';
import { secretForms } from './secret-forms.js';
import { TextMask, type TextStream } from './text-mask.js';

/** Shorter values, such as a header that says `1`, are parts of ordinary text and protect nothing. */
const SHORTEST_SECRET = 8;

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
  const mask = new TextMask(secretForms(addressingOf(endpoint).secrets, SHORTEST_SECRET));
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
