import { Agent, buildConnector, type Dispatcher } from 'undici';
import { member } from './narrow.js';

/** undici's connect timer only frees the socket; the attempt's own clock has spoken before it, by this much. */
const CONNECT_GRACE_MS = 1_000;
const RESET_CODES: readonly unknown[] = ['ECONNRESET', 'EPIPE', 'UND_ERR_SOCKET'];

/** The pooled connections to one endpoint. */
export interface Connections {
  /** A dispatcher for one request that tells when the request is put on the wire. */
  forRequest(onSent: () => void): Dispatcher;
  /**
   * Whether an error, met before any byte of the answer, is that of a kept-alive connection that the server had
   * closed meanwhile: then the request never reached it, and sending it again is safe.
   */
  isStale(error: unknown): boolean;
  /** Ends all connections at once, with the requests on them. */
  destroy(): Promise<void>;
}

/**
 * undici's own time limits are off: they cannot tell comments from data, and a limit of 300 s on headers would
 * cut every slow local model.
 */
export function createConnections(connectTimeoutMs: number): Connections {
  /** Bytes that a socket had ever received when it failed; undici passes on the socket's own error object. */
  const receivedAtFailure = new WeakMap<Error, number>();
  const connect = buildConnector({ timeout: connectTimeoutMs > 0 ? connectTimeoutMs + CONNECT_GRACE_MS : 0 });
  const agent = new Agent({
    headersTimeout: 0,
    bodyTimeout: 0,
    connect(options, callback) {
      connect(options, (...[error, socket]) => {
        if (error !== null) {
          callback(error, null);
          return;
        }
        socket.on('error', (failure: Error) => receivedAtFailure.set(failure, socket.bytesRead));
        callback(null, socket);
      });
    },
  });

  return {
    forRequest(onSent) {
      return agent.compose(
        (dispatch) => (options, handler) => dispatch(options, tellWhenSent(handler, onSent)),
      );
    },
    isStale(error) {
      if (!(error instanceof Error) || !RESET_CODES.includes(member(error, 'code'))) return false;
      const received = receivedAtFailure.get(error) ?? member(member(error, 'socket'), 'bytesRead');
      // A connection that never brought anything was refused, not kept alive.
      return typeof received === 'number' && received > 0;
    },
    async destroy() {
      await agent.destroy();
    },
  };
}

/**
 * The same handler, with a call before the one with which undici starts a request on a connected socket. undici
 * has two handler interfaces, and which one it passes here is its own affair; both are covered.
 */
function tellWhenSent(handler: Dispatcher.DispatchHandler, onSent: () => void): Dispatcher.DispatchHandler {
  return new Proxy(handler, {
    get(target, key) {
      const value: unknown = Reflect.get(target, key, target);
      if (typeof value !== 'function') return value;
      return (...args: unknown[]): unknown => {
        if (key === 'onConnect' || key === 'onRequestStart') onSent();
        return Reflect.apply(value, target, args);
      };
    },
  });
}
