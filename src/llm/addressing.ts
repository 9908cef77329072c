import { completionsUrl } from './completions-url.js';
import type { EndpointConfig } from './endpoint.js';
import { headerFault, keyFault } from './extra-headers.js';

/** What every request to an endpoint has in common. */
export interface Addressing {
  readonly url: URL;
  readonly headers: Readonly<Record<string, string>>;
  /**
   * What must not appear in any message: the key, and those values of the configured headers and of the query whose
   * names say that they are secret, of Basic ones also user and password as they are decoded.
   */
  readonly secrets: readonly string[];
}

/** Names of headers and parts of a query whose values are secret. Others, such as `HTTP-Referer`, say who asks for what. */
const SECRET_NAME = /auth|cookie|key|token|secret|password|credential|signature|(?<![a-z])sig(?![a-z])/i;

/** Throws on a base URL or a header that cannot be used: mistakes in the settings. */
export function addressingOf(endpoint: EndpointConfig): Addressing {
  const url = completionsUrl(endpoint.baseUrl);
  // One that is written into the base URL is replaced, so that there are never two.
  if (endpoint.apiVersion !== null) url.searchParams.set('api-version', endpoint.apiVersion);
  const unusable = keyFault(endpoint.apiKey ?? '');
  if (unusable !== null) throw new Error(`The API key of a model endpoint ${unusable}`);
  const extra = Object.entries(endpoint.extraHeaders).map(([name, value]): [string, string] => {
    const fault = headerFault(name, value);
    if (fault !== null) throw new Error(`The extra headers of a model endpoint ${fault}`);
    return [name.toLowerCase(), value];
  });
  return {
    url,
    headers: {
      'content-type': 'application/json',
      accept: 'text/event-stream, application/json',
      'accept-encoding': 'identity',
      ...authorization(endpoint),
      ...Object.fromEntries(extra),
    },
    secrets: [
      endpoint.apiKey ?? '',
      ...extra
        .filter(([name]) => SECRET_NAME.test(name))
        .flatMap(([, value]) => [value, withoutScheme(value), ...basicCredentials(value)]),
      ...querySecrets(url),
    ],
  };
}

/** Local servers that need no key refuse an empty one, so without a key there is no header. */
function authorization({ apiKey, authHeader }: EndpointConfig): Record<string, string> {
  if (apiKey === null || apiKey === '' || authHeader === 'none') return {};
  return authHeader === 'api-key' ? { 'api-key': apiKey } : { authorization: `Bearer ${apiKey}` };
}

/** `Basic abc` is also echoed as `abc`. */
function withoutScheme(value: string): string {
  return value.replace(/^(?:Basic|Bearer|Token)\s+/i, '');
}

/** `user:password` of a Basic header, and the password alone; the user is no secret. */
function basicCredentials(value: string): string[] {
  const encoded = /^Basic\s+(\S+)$/i.exec(value)?.[1];
  if (encoded === undefined) return [];
  const bytes = Buffer.from(encoded, 'base64');
  return [bytes.toString('utf8'), bytes.toString('latin1')].flatMap((pair) => {
    const colon = pair.indexOf(':');
    return colon < 0 ? [] : [pair, pair.slice(colon + 1)];
  });
}

function querySecrets(url: URL): string[] {
  return [...url.searchParams].filter(([name]) => SECRET_NAME.test(name)).map(([, value]) => value);
}
