import { addressingOf } from './addressing.js';
import type { EndpointConfig } from './endpoint.js';
import type { Outcome } from './outcome.js';
import { secretForms } from './secret-forms.js';

/** Shorter values, such as a header that says `1`, are parts of ordinary text and protect nothing. */
const SHORTEST_SECRET = 8;

/**
 * Takes the endpoint's own key, and the values of its configured headers, out of replies. An endpoint that quotes
 * what it was sent would otherwise put them where they are stored and read by everybody.
 */
export function createReplyRedactor(endpoint: EndpointConfig): (outcome: Outcome) => Outcome {
  const secrets = secretForms(addressingOf(endpoint).secrets, SHORTEST_SECRET);
  return (outcome) => {
    if (outcome.kind !== 'ok') return outcome;
    const clean = (text: string) =>
      secrets.reduce((rest, secret) => rest.replaceAll(secret, '[REDACTED]'), text);
    return {
      ...outcome,
      text: clean(outcome.text),
      refusal: outcome.refusal === null ? null : clean(outcome.refusal),
      toolCalls: outcome.toolCalls.map((call) => ({ ...call, arguments: clean(call.arguments) })),
    };
  };
}
