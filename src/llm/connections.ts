import { Agent, buildConnector, type Dispatcher, EnvHttpProxyAgent, Pool } from 'undici';
import { member } from './narrow.js';
import type { Proxies } from './proxies.js';

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
export function createConnections(connectTimeoutMs: number, proxies: Proxies | null = null): Connections {
  /** Bytes that a socket had ever received when it failed; undici passes on the socket's own error object. */
  const receivedAtFailure = new WeakMap<Error, number>();
  const timeout = connectTimeoutMs > 0 ? connectTimeoutMs + CONNECT_GRACE_MS : 0;
  const connect = buildConnector({ timeout });
  const options: Agent.Options = {
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
  };
  const agent = proxies === null ? new Agent(options) : throughProxy(options, proxies, timeout);

  return {
    forRequest(onSent) {
      return agent.compose(
        (dispatch) => (options, handler) => dispatch(options, tellWhenSent(handler, onSent)),
      );
    },
    isStale(error) {
      if (!(error instanceof Error) || !RESET_CODES.includes(member(error, 'code'))) return false;
      // A connection that never brought anything was refused, not kept alive. Those through a proxy are not looked
      // at: what the proxy answered counts as brought, so that the two could not be told apart.
      return (receivedAtFailure.get(error) ?? 0) > 0;
    },
    async destroy() {
      await agent.destroy();
    },
  };
}

/** Tunnels with CONNECT, for plain http too. The answer of the proxy has as much time as a connection. */
function throughProxy({ connect, ...options }: Agent.Options, proxies: Proxies, timeout: number): Dispatcher {
  const { httpProxy, httpsProxy, noProxy } = proxies;
  return new EnvHttpProxyAgent({
    ...options,
    ...(connect === undefined ? {} : { connect }),
    httpProxy,
    httpsProxy,
    noProxy,
    proxyTls: { timeout },
    clientFactory: (origin, settings) => new Pool(origin, { ...settings, headersTimeout: timeout }),
  });
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
