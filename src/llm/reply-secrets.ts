import { addressingOf } from './addressing.js';
import type { EndpointConfig } from './endpoint.js';
import type { Outcome } from './outcome.js';

/** Shorter values, such as a header that says `1`, are parts of ordinary text and protect nothing. */
const SHORTEST_SECRET = 8;

/**
 * Takes the endpoint's own key, and the values of its configured headers, out of replies. An endpoint that quotes
 * what it was sent would otherwise put them where they are stored and read by everybody.
 */
export function createReplyRedactor(endpoint: EndpointConfig): (outcome: Outcome) => Outcome {
  const secrets = addressingOf(endpoint)
    .secrets.filter((secret) => secret.length >= SHORTEST_SECRET)
    .toSorted((a, b) => b.length - a.length);
  return (outcome) => {
    if (outcome.kind !== 'ok') return outcome;
    const text = secrets.reduce((rest, secret) => rest.replaceAll(secret, '[REDACTED]'), outcome.text);
    return text === outcome.text ? outcome : { ...outcome, text };
  };
}
