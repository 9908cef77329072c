import { Agent, buildConnector, type Dispatcher, EnvHttpProxyAgent, Pool } from 'undici';
import { onRequestStart } from './dispatch-handler.js';
import { member } from './narrow.js';
import type { Proxies } from './proxies.js';
import { WatchedClient } from './watched-client.js';

/** undici's connect timer only frees the socket; the attempt's own clock has spoken before it, by this much. */
const CONNECT_GRACE_MS = 1_000;
const RESET_CODES: readonly unknown[] = ['ECONNRESET', 'EPIPE', 'UND_ERR_SOCKET'];

/** The pooled connections to one endpoint. */
export interface Connections {
  /** A dispatcher for one request that tells when the request is put on the wire. */
  forRequest(onSent: () => void): Dispatcher;
  /**
   * Whether an error is that of a kept-alive connection that the server had closed meanwhile: it had served before,
   * and brought no byte of this answer. Then the request never reached the server, and sending it again is safe.
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
  const stale = new WeakSet<Error>();
  const timeout = connectTimeoutMs > 0 ? connectTimeoutMs + CONNECT_GRACE_MS : 0;
  const pool = (origin: string | URL, settings: object): Pool =>
    new Pool(origin, {
      ...settings,
      factory: (target, passedOn) => new WatchedClient(target, passedOn, stale),
    });
  const options: Agent.Options = {
    headersTimeout: 0,
    bodyTimeout: 0,
    connect: buildConnector({ timeout }),
    factory: pool,
  };
  const agent =
    proxies === null
      ? new Agent(options)
      : throughProxy(options, proxies, timeout, (origin, settings) =>
          pool(origin, { ...settings, headersTimeout: timeout }),
        );

  return {
    forRequest(onSent) {
      return agent.compose(
        (dispatch) => (options, handler) => dispatch(options, onRequestStart(handler, onSent)),
      );
    },
    isStale(error) {
      return error instanceof Error && RESET_CODES.includes(member(error, 'code')) && stale.has(error);
    },
    async destroy() {
      await agent.destroy();
    },
  };
}

/** Tunnels with CONNECT, for plain http too. The answer of the proxy has as much time as a connection. */
function throughProxy(
  { connect, ...options }: Agent.Options,
  proxies: Proxies,
  timeout: number,
  clientFactory: (origin: URL, settings: object) => Dispatcher,
): Dispatcher {
  const { httpProxy, httpsProxy, noProxy } = proxies;
  return new EnvHttpProxyAgent({
    ...options,
    ...(connect === undefined ? {} : { connect }),
    httpProxy,
    httpsProxy,
    noProxy,
    proxyTls: { timeout },
    clientFactory,
  });
}
