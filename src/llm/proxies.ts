/** The proxies that the environment names, as undici's `EnvHttpProxyAgent` takes them. */
export interface Proxies {
  /** '' for none. */
  readonly httpProxy: string;
  readonly httpsProxy: string;
  readonly noProxy: string;
  /** Passwords in the addresses of the proxies. */
  readonly secrets: readonly string[];
}

const PROXY_NAMES = ['http_proxy', 'https_proxy'];
const UNUSABLE = 'must be the http(s) address of a proxy';

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
      proxy === null ? [] : [proxy.password, decoded(proxy.password) ?? ''],
    ),
  };
}

/** Whether the proxies of the environment count for an endpoint at this base URL. */
export function needsProxies(baseUrl: string): boolean {
  return !isLoopback(new URL(baseUrl).hostname);
}

/** What is wrong with the proxies that the environment names, one line each that begins with the variable; no values. */
export function proxyFaults(environment: ProxyEnvironment): string[] {
  return PROXY_NAMES.flatMap((name) => {
    const isUsable = variable(environment, name) === '' || proxyAt(variable(environment, name)) !== null;
    return isUsable ? [] : [`${nameIn(environment, name)}: ${UNUSABLE}`];
  });
}

function proxyIn(environment: ProxyEnvironment, name: string): URL | null {
  const text = variable(environment, name);
  if (text === '') return null;
  const url = proxyAt(text);
  if (url === null) throw new Error(`${nameIn(environment, name)} ${UNUSABLE}`);
  return url;
}

function proxyAt(text: string): URL | null {
  const address = /^[a-z][a-z\d+.-]*:\/\//i.test(text) ? text : `http://${text}`;
  const url = URL.canParse(address) ? new URL(address) : null;
  if (url === null || (url.protocol !== 'http:' && url.protocol !== 'https:') || url.hostname === '')
    return null;
  // undici decodes both, and throws.
  return decoded(url.username) === null || decoded(url.password) === null ? null : url;
}

/** The name in lower case counts before the one in upper case, as in other programs. */
function variable(environment: ProxyEnvironment, name: string): string {
  return (environment[nameIn(environment, name)] ?? '').trim();
}

function nameIn(environment: ProxyEnvironment, name: string): string {
  return environment[name] ? name : name.toUpperCase();
}

function isLoopback(hostname: string): boolean {
  return /^(?:(?:.+\.)?localhost|127(?:\.\d+){3}|\[::1\])$/i.test(hostname);
}

/** Null for what cannot be decoded. */
function decoded(text: string): string | null {
  try {
    return decodeURIComponent(text);
  } catch {
    return null;
  }
}
