import { classify } from '../llm/classify.js';
import type { EndpointConfig } from '../llm/endpoint.js';
import { readErrorBody, readErrorDocument } from '../llm/error-facts.js';
import type { Outcome } from '../llm/outcome.js';
import { describeRedirect, isRedirect } from '../llm/redirect.js';
import { ReplyReader } from '../llm/reply-reader.js';
import { requestBody, requestFields } from '../llm/request-body.js';
import { FIRST_FORM } from '../llm/request-form.js';
import type { EndpointProbe } from '../llm/windows/endpoint-probe.js';
import type { ProbeAnswer, ProbeFailure } from '../llm/windows/http-probe.js';

/** What the smallest possible chat came to, and in which form the answer came. */
export interface ChatAnswer {
  readonly kind: 'answer';
  readonly status: number;
  readonly outcome: Outcome;
  readonly contentType: string;
  /** Data events in the answer; 0 when it came in one piece. */
  readonly events: number;
}

/**
 * Sends a chat of one short message, asking for a stream. Not through the service's own client, which hides in which
 * form a reply came; but an answer is read and classified by the same rules.
 */
export async function askChat(
  { probe, completions, clean }: EndpointProbe,
  endpoint: EndpointConfig,
  signal: AbortSignal,
): Promise<ChatAnswer | ProbeFailure> {
  const fields = requestFields(
    {
      model: endpoint.model,
      messages: [{ role: 'user', content: 'Reply with the word ok.' }],
      maxOutputTokens: null,
      extraBody: endpoint.extraBody,
    },
    // Some endpoints refuse these options, and nothing here needs them.
    { ...FIRST_FORM, streamOptions: false },
  );
  const answer = await probe.post(completions, requestBody(fields), signal);
  if (answer.kind === 'failed') return { ...answer, message: clean(answer.message) };
  return {
    kind: 'answer',
    status: answer.status,
    outcome: outcomeOf(answer, completions, clean),
    contentType: String(answer.headers['content-type'] ?? ''),
    events: answer.text.match(/^data:/gm)?.length ?? 0,
  };
}

function outcomeOf({ status, headers, text }: ProbeAnswer, url: URL, clean: EndpointProbe['clean']): Outcome {
  if (status >= 400) {
    return classify({ httpStatus: status, headers, facts: readErrorBody(text), url, clean });
  }
  if (isRedirect(status)) {
    return { kind: 'protocol', message: clean(describeRedirect(status, headers, url)), status };
  }
  const reader = new ReplyReader(String(headers['content-type'] ?? ''));
  reader.feed(text);
  const end = reader.conclude('closed');
  if (end.kind === 'ok') return end;
  if (end.kind === 'error') {
    return classify({ httpStatus: status, headers, facts: readErrorDocument(end.document), url, clean });
  }
  return { kind: end.kind, message: clean(end.message), status };
}
