import { member } from './narrow.js';
import type { Failure } from './outcome.js';
import type { CleanText } from './redact.js';

export interface TransportFailure {
  readonly outcome: Failure;
  /** More often a wrong setting than a passing fault: a name that is not known, a proxy that refuses. */
  readonly isDoubtful: boolean;
}

const NAME_LOOKUP_CODES: readonly string[] = ['ENOTFOUND', 'EAI_AGAIN'];
const CONNECT_TIMEOUT_CODES: readonly string[] = ['UND_ERR_CONNECT_TIMEOUT'];
/** What will be the same next time: TLS that cannot be trusted, an answer that is not HTTP, an unusable header. */
const LASTING_CODES =
  /^(?:ERR_TLS|ERR_SSL|CERT_|EPROTO$|DEPTH_ZERO_SELF_SIGNED|SELF_SIGNED|UNABLE_TO_|HPE_|UND_ERR_HEADERS_OVERFLOW$|UND_ERR_INVALID_ARG$)/;

/** What undici makes of a 101 that nobody asked for, with and without a header that names the protocol. */
const SWITCHED = /^UND_ERR_SOCKET bad upgrade$|^ERR_ASSERTION .*\bassert\(upgrade\)/s;

/** What an error of the connection comes to, before any part of an answer was there. */
export function transportFailure(error: unknown, clean: CleanText): TransportFailure {
  const { code, name, text } = rootCause(error);
  const proxyStatus = /^Proxy response \((\d{3})\)/.exec(text)?.[1];
  if (proxyStatus !== undefined) return proxyFailure(proxyStatus);
  if (SWITCHED.test(`${code} ${text}`)) return switchedProtocols();
  const isDoubtful = NAME_LOOKUP_CODES.includes(code);
  const reason = clean(`The connection to the model endpoint failed: ${text}`);
  const base = { message: reason, status: null };
  const connecting = member(error, 'syscall') === 'connect';
  let outcome: Failure = { ...base, kind: 'unavailable', retryAfterMs: null };
  if (CONNECT_TIMEOUT_CODES.includes(code) || (code === 'ETIMEDOUT' && connecting)) {
    outcome = { ...base, kind: 'timeout', clock: 'connect' };
  } else if (LASTING_CODES.test(code) || name === 'HTTPParserError') {
    outcome = { ...base, kind: 'protocol' };
  }
  return { outcome, isDoubtful };
}

/** A proxy that opens no connection. Its status is its own: the endpoint has answered nothing. */
function proxyFailure(status: string): TransportFailure {
  if (status === '407') {
    return {
      outcome: { kind: 'auth', message: 'The proxy asks for credentials (407)', status: null },
      isDoubtful: false,
    };
  }
  const message = `The proxy answered ${status} instead of opening a connection to the model endpoint`;
  return { outcome: { kind: 'unavailable', message, status: null, retryAfterMs: null }, isDoubtful: true };
}

/** Asked again, the server would switch again. */
function switchedProtocols(): TransportFailure {
  const message = 'The model endpoint switched to another protocol than HTTP (101), unasked';
  return { outcome: { kind: 'protocol', message, status: null }, isDoubtful: false };
}

/** One line about a connection that broke. */
export function transportReason(error: unknown): string {
  return rootCause(error).text;
}

/** What came is not HTTP, or not compressed as it says, as opposed to a connection that just ended. */
export function isBrokenFrame(error: unknown): boolean {
  const { name, code } = rootCause(error);
  return name === 'HTTPParserError' || (code.startsWith('Z_') && code !== 'Z_BUF_ERROR');
}

/** With several addresses for one name the reasons are inside an aggregate whose own message is empty. */
function rootCause(error: unknown): { code: string; name: string; text: string } {
  const inner: unknown = error instanceof AggregateError ? error.errors[0] : undefined;
  const cause = inner ?? (error instanceof Error && error.message === '' ? error.cause : undefined) ?? error;
  const code = member(cause, 'code') ?? member(error, 'code');
  const name = cause instanceof Error ? cause.name : '';
  const message = cause instanceof Error ? cause.message : String(cause);
  return {
    code: typeof code === 'string' ? code : '',
    name,
    text: message === '' ? (typeof code === 'string' ? code : 'unknown reason') : message,
  };
}
