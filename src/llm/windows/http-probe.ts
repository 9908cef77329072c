import type { IncomingHttpHeaders } from 'node:http';
import { type Dispatcher, request } from 'undici';
import type { Connections } from '../connections.js';
import { chunksOf, plainBody } from '../response-body.js';
import { transportReason } from '../transport-failure.js';
import { untilAborted } from '../until-aborted.js';

/** Largest body that is read, in bytes after decompression: the longest public list of models has about 1 MB. */
const BODY_LIMIT = 4 * 1024 * 1024;

/** An answer of any status, read to its end. */
export interface ProbeAnswer {
  readonly kind: 'answer';
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  readonly text: string;
}

export interface ProbeFailure {
  readonly kind: 'failed';
  /** `stopped`: the signal fired first. `unusable`: something answered, but nothing that can be read. */
  readonly cause: 'stopped' | 'connection' | 'unusable';
  /** One line for people. May quote the endpoint: to be cleaned before it is shown. */
  readonly message: string;
}

export type ProbeResult = ProbeAnswer | ProbeFailure;

/** Small questions to an endpoint beside its chat. Nothing here throws, follows a redirect or tries again. */
export interface HttpProbe {
  get(url: URL, signal: AbortSignal): Promise<ProbeResult>;
  post(url: URL, body: string, signal: AbortSignal): Promise<ProbeResult>;
  /** Ends all connections; what is under way fails. */
  close(): Promise<void>;
}

/** @param connections its own: they are destroyed with it */
export function createHttpProbe(
  headers: Readonly<Record<string, string>>,
  connections: Connections,
): HttpProbe {
  const { 'content-type': _ofBodies, ...bodiless } = headers;
  const ask = async (
    url: URL,
    signal: AbortSignal,
    how: { method: 'GET' | 'POST'; headers: Readonly<Record<string, string>>; body?: string },
  ): Promise<ProbeResult> => {
    if (signal.aborted) return stopped();
    try {
      const sent = request(url, { ...how, signal, dispatcher: connections.forRequest(() => {}) });
      return await read(await untilAborted(sent, signal));
    } catch (error) {
      if (signal.aborted) return stopped();
      return { kind: 'failed', cause: 'connection', message: transportReason(error) };
    }
  };
  return {
    get: (url, signal) =>
      ask(url, signal, { method: 'GET', headers: { ...bodiless, accept: 'application/json' } }),
    post: (url, body, signal) => ask(url, signal, { method: 'POST', headers, body }),
    close: () => connections.destroy(),
  };
}

async function read({ statusCode, headers, body }: Dispatcher.ResponseData): Promise<ProbeResult> {
  // Destroying a body reports an error on it, which is no news to anyone.
  body.on('error', () => {});
  try {
    const plain = plainBody(body, String(headers['content-encoding'] ?? ''));
    if (plain === null) return unusable('the answer is compressed in an unknown way');
    const chunks: Uint8Array[] = [];
    let size = 0;
    for await (const chunk of chunksOf(plain)) {
      size += chunk.length;
      if (size > BODY_LIMIT) return unusable(`the answer is larger than ${BODY_LIMIT} bytes`);
      chunks.push(chunk);
    }
    return { kind: 'answer', status: statusCode, headers, text: Buffer.concat(chunks).toString('utf8') };
  } finally {
    // After an early exit the connection would stay taken for ever; after the end this does nothing.
    body.destroy();
  }
}

function stopped(): ProbeFailure {
  return { kind: 'failed', cause: 'stopped', message: 'no answer in time' };
}

function unusable(message: string): ProbeFailure {
  return { kind: 'failed', cause: 'unusable', message };
}
