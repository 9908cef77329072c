/** The proxies that the environment names, as undici's `EnvHttpProxyAgent` takes them. */
export interface Proxies {
  /** '' for none. */
  readonly httpProxy: string;
  readonly httpsProxy: string;
  readonly noProxy: string;
  /** Passwords in the addresses of the proxies. */
  readonly secrets: readonly string[];
}

export type ProxyEnvironment = Readonly<Record<string, string | undefined>>;

/**
 * The proxies for an endpoint; null when it is reached directly. Loopback always is: a proxy cannot reach the
 * local servers of this machine, and nobody who sets `HTTP_PROXY` thinks of excepting each of their names.
 *
 * Throws on an address of a proxy that cannot be used.
 */
export function proxiesFor(url: URL, environment: ProxyEnvironment): Proxies | null {
  if (isLoopback(url.hostname)) return null;
  const http = proxyIn(environment, 'http_proxy');
  const https = proxyIn(environment, 'https_proxy');
  if (http === null && https === null) return null;
  const noProxy = variable(environment, 'no_proxy');
  return {
    httpProxy: http?.href ?? '',
    httpsProxy: https?.href ?? '',
    // undici knows the star only when nothing stands beside it.
    noProxy: noProxy.split(/[,\s]+/).includes('*') ? '*' : noProxy,
    secrets: [http, https].flatMap((proxy) =>
      proxy === null ? [] : [proxy.password, decoded(proxy.password)],
    ),
  };
}

function proxyIn(environment: ProxyEnvironment, name: string): URL | null {
  const text = variable(environment, name);
  if (text === '') return null;
  const address = /^[a-z][a-z\d+.-]*:\/\//i.test(text) ? text : `http://${text}`;
  const url = URL.canParse(address) ? new URL(address) : null;
  if (url === null || (url.protocol !== 'http:' && url.protocol !== 'https:') || url.hostname === '') {
    throw new Error(`${name.toUpperCase()} must be the http(s) address of a proxy`);
  }
  return url;
}

/** The name in lower case counts before the one in upper case, as in other programs. */
function variable(environment: ProxyEnvironment, name: string): string {
  return (environment[name] || environment[name.toUpperCase()] || '').trim();
}

function isLoopback(hostname: string): boolean {
  return /^(?:(?:.+\.)?localhost|127(?:\.\d+){3}|\[::1\])$/i.test(hostname);
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}
