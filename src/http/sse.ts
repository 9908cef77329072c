import type { FastifyReply } from 'fastify';

/** A comment this often, in ms, keeps proxies from cutting a stream that is idle while a model thinks. */
export const HEARTBEAT_MS = 15_000;

export interface SseEvent {
  readonly event: string;
  /** JSON text on one line. */
  readonly data: string;
  readonly id?: string;
}

/** An open event stream. Writing to one that the client has left does nothing. */
export interface SseStream {
  send(event: SseEvent): void;
  /** Ends the answer; further events are dropped. */
  end(): void;
}

/**
 * Turns an answer into an event stream, past Fastify: from here on nothing can become a problem document any more.
 * The headers go out at once, and ask proxies not to collect or change what comes.
 */
export function openSse(reply: FastifyReply, heartbeatMs = HEARTBEAT_MS): SseStream {
  reply.hijack();
  const { raw } = reply;
  for (const [name, value] of Object.entries(reply.getHeaders())) {
    if (value !== undefined) raw.setHeader(name, value);
  }
  raw.writeHead(200, {
    'content-type': 'text/event-stream; charset=utf-8',
    'cache-control': 'no-cache, no-transform',
    'x-accel-buffering': 'no',
  });
  raw.flushHeaders();
  const write = (text: string): void => {
    if (!raw.writableEnded && !raw.destroyed) raw.write(text);
  };
  const heartbeat = setInterval(() => write(': \n\n'), heartbeatMs);
  heartbeat.unref();
  raw.once('close', () => clearInterval(heartbeat));
  return {
    send: ({ event, data, id }) =>
      write(`${id === undefined ? '' : `id: ${id}\n`}event: ${event}\ndata: ${data}\n\n`),
    end: () => {
      clearInterval(heartbeat);
      if (!raw.writableEnded) raw.end();
    },
  };
}
