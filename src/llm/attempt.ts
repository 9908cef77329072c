import { type Dispatcher, request } from 'undici';
import type { Answer } from './answer.js';
import { type ClockLimits, Clocks } from './clocks.js';
import type { Connections } from './connections.js';
import type { ErrorFacts } from './error-facts.js';
import type { Outcome, Usage } from './outcome.js';
import { readRefusal } from './read-refusal.js';
import { readReply } from './read-reply.js';
import type { CleanText } from './redact.js';
import { describeRedirect, isRedirect } from './redirect.js';
import { plainBody } from './response-body.js';
import { type Stop, stopFailure } from './stop.js';
import { transportFailure } from './transport-failure.js';
import { untilAborted } from './until-aborted.js';
import { NO_USAGE } from './usage.js';

export interface AttemptRequest {
  readonly url: URL;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
  readonly limits: ClockLimits;
  readonly connections: Connections;
  readonly clean: CleanText;
  readonly signal: AbortSignal;
  /** Given the text of the reply while it comes, piece by piece. */
  readonly onText?: ((text: string) => void) | undefined;
}

export interface AttemptResult {
  readonly outcome: Outcome;
  /** What this request used, where the answer said so, also when it failed. */
  readonly usage: Usage;
  /** The endpoint's own word on whether to try again (`x-should-retry`); null when it says nothing. */
  readonly retryAdvice: boolean | null;
  /** The request was lost on a kept-alive connection that the server had closed. */
  readonly staleConnection: boolean;
  /** The cause is more often a wrong setting than a passing fault: one more try tells. */
  readonly isDoubtful: boolean;
  /** What the endpoint's error says, where it reported one. Not cleaned: it never leaves the client. */
  readonly refusal: ErrorFacts | null;
}

type Facts = Partial<Omit<AttemptResult, 'outcome'>>;

const result = (outcome: Outcome, facts: Facts = {}): AttemptResult => ({
  outcome,
  usage: NO_USAGE,
  retryAdvice: null,
  staleConnection: false,
  isDoubtful: false,
  refusal: null,
  ...facts,
});

/**
 * Sends one request and reads its answer to the end. Never throws; the outcome is known within milliseconds of
 * the caller's signal or of a clock, and by then the connection is closed.
 */
export async function attempt(sending: AttemptRequest): Promise<AttemptResult> {
  const abort = new AbortController();
  let stop: Stop | null = null;
  const stopBy = (cause: Stop): void => {
    stop ??= cause;
    abort.abort();
  };
  const clocks = new Clocks(sending.limits, (clock) => stopBy({ by: 'clock', clock }));
  const cancel = (): void => stopBy({ by: 'caller' });
  sending.signal.addEventListener('abort', cancel, { once: true });
  if (sending.signal.aborted) cancel();
  const stopped = (): Stop | null => stop;
  try {
    const response = await untilAborted(send(sending, abort.signal, clocks), abort.signal);
    clocks.headersReceived();
    const { url, clean, onText } = sending;
    return await readAnswer({ url, clean, response, clocks, stopped, onText });
  } catch (error) {
    const cause = stopped();
    if (cause !== null) return result(stopFailure(cause, null));
    const { outcome, isDoubtful } = transportFailure(error, sending.clean);
    return result(outcome, { isDoubtful, staleConnection: sending.connections.isStale(error) });
  } finally {
    clocks.stop();
    sending.signal.removeEventListener('abort', cancel);
  }
}

function send(
  sending: AttemptRequest,
  signal: AbortSignal,
  clocks: Clocks,
): Promise<Dispatcher.ResponseData> {
  return request(sending.url, {
    method: 'POST',
    headers: sending.headers,
    body: sending.body,
    signal,
    dispatcher: sending.connections.forRequest(() => clocks.requestSent()),
  });
}

async function readAnswer(answer: Answer): Promise<AttemptResult> {
  const { statusCode, headers, body } = answer.response;
  // Destroying an unread body reports an error on it, which is no news to anyone.
  body.on('error', () => {});
  const retryAdvice = adviceIn(headers['x-should-retry']);
  const unusable = (message: string, facts: Facts = { retryAdvice }): AttemptResult => {
    body.destroy();
    return result({ kind: 'protocol', message: answer.clean(message), status: statusCode }, facts);
  };
  // Whatever else the answer advises: sent again, the same request is redirected again.
  if (isRedirect(statusCode)) return unusable(describeRedirect(statusCode, headers, answer.url), {});
  const plain = plainBody(body, String(headers['content-encoding'] ?? ''));
  if (plain === null) return unusable('The answer of the model endpoint is compressed in an unknown way');
  try {
    const read = statusCode >= 400 ? readRefusal : readReply;
    const { outcome, usage, refusal } = await read(answer, plain);
    return result(outcome, { usage, refusal, retryAdvice });
  } catch (error) {
    // Whatever a stranger's answer made fail in here is the answer's fault, and must not cost the connection.
    return unusable(`The answer of the model endpoint cannot be read: ${String(error)}`);
  }
}

function adviceIn(header: string | string[] | undefined): boolean | null {
  if (header === 'true') return true;
  return header === 'false' ? false : null;
}
