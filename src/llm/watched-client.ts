import type { Socket } from 'node:net';
import { type buildConnector, Client, type Dispatcher } from 'undici';
import { onRequestStart } from './dispatch-handler.js';
import { InterimFilter } from './interim-filter.js';
import { member } from './narrow.js';

/**
 * Codes with which undici takes an error for one of a request that ran on the connection, whatever it says: it
 * leaves the waiting requests in their queue, and connects again at once, for ever.
 */
const ENDLESS_CODES: readonly unknown[] = ['UND_ERR_SOCKET', 'UND_ERR_INFO'];

/** Errors of connections that had been kept alive and brought no byte of the answer that they were lost on. */
export type StaleErrors = WeakSet<Error>;

/** undici's client, which has one connection at a time, with what it does not tell about that connection. */
export class WatchedClient extends Client {
  readonly #watch: ConnectionWatch;

  /** @param options those that a pool of undici passes on */
  constructor(origin: string | URL, options: object, stale: StaleErrors) {
    const watch = new ConnectionWatch(stale);
    super(origin, { ...options, connect: watched(member(options, 'connect'), watch) });
    this.#watch = watch;
  }

  override dispatch(options: Dispatcher.DispatchOptions, handler: Dispatcher.DispatchHandler): boolean {
    return super.dispatch(
      options,
      onRequestStart(handler, () => this.#watch.requestStarts()),
    );
  }
}

function watched(connect: unknown, watch: ConnectionWatch): buildConnector.connector {
  if (typeof connect !== 'function') throw new TypeError('A pool passes its connect function on');
  return (options, callback) => {
    const connected: buildConnector.Callback = (...[error, socket]) => {
      if (error !== null) {
        callback(connectError(error), null);
        return;
      }
      watch.opened(socket);
      callback(null, socket);
    };
    Reflect.apply(connect, undefined, [options, connected]);
  };
}

/** Of these codes only a proxy that ends the connection instead of answering CONNECT makes one. */
function connectError(error: Error): Error {
  if (!ENDLESS_CODES.includes(member(error, 'code'))) return error;
  return new Error(`the proxy opened no tunnel (${error.message})`, { cause: error });
}

/** Counts what one connection brought, in bytes. */
class ConnectionWatch {
  readonly #stale: StaleErrors;
  #socket: Socket | null = null;
  #interim: InterimFilter | null = null;
  /** When it was opened: what a proxy or TLS brought until then is no answer. */
  #atOpening = 0;
  /** When its latest request started. */
  #atStart = 0;

  constructor(stale: StaleErrors) {
    this.#stale = stale;
  }

  opened(socket: Socket): void {
    this.#socket = socket;
    this.#interim = new InterimFilter(socket);
    this.#atOpening = socket.bytesRead;
    this.#atStart = socket.bytesRead;
    // undici passes the socket's own error object on to the request.
    socket.on('error', (failure: Error) => {
      if (this.#socket !== socket) return;
      const served = this.#atStart > this.#atOpening;
      if (served && socket.bytesRead === this.#atStart) this.#stale.add(failure);
    });
  }

  requestStarts(): void {
    this.#atStart = this.#socket?.bytesRead ?? 0;
    this.#interim?.answerBegins();
  }
}
