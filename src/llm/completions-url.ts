/** What the address of chat completions ends in, everywhere. */
export const SUFFIX = '/chat/completions';

/**
 * The address that chat completions are posted to, from a base URL as people write it. Vendors differ in what
 * they put before the suffix (`/v1`, `/api/v1`, `/openai/v1`, `/v1beta/openai`, a proxy's own path), so only an
 * empty path gets `/v1`; any other path is kept as it is. A query string is kept (Azure's `api-version`).
 *
 * - `http://h:1`, `http://h:1/`            -> `http://h:1/v1/chat/completions`
 * - `http://h:1/proxy/v1/`                 -> `http://h:1/proxy/v1/chat/completions`
 * - `http://h:1/x/chat/completions`        -> unchanged
 *
 * Throws on what `baseUrlFault` refuses: that is a mistake in the settings, found when the client is created.
 */
export function completionsUrl(baseUrl: string): URL {
  const fault = baseUrlFault(baseUrl);
  if (fault !== null) throw new Error(`The base URL of a model endpoint ${fault}`);
  const url = new URL(baseUrl.trim());
  const path = url.pathname.replace(/\/+$/, '');
  if (path.endsWith(SUFFIX)) url.pathname = path;
  else url.pathname = path === '' ? `/v1${SUFFIX}` : `${path}${SUFFIX}`;
  url.hash = '';
  return url;
}

/**
 * What is wrong with a base URL, as the end of a sentence that repeats nothing of it; null when nothing is.
 * Credentials in it would not be sent (undici ignores them), and would be shown wherever the address is.
 */
export function baseUrlFault(baseUrl: string): string | null {
  const url = URL.canParse(baseUrl.trim()) ? new URL(baseUrl.trim()) : null;
  if (url === null) return /^https?:/i.test(baseUrl.trim()) ? 'is no valid URL' : NO_HTTP;
  if (url.protocol !== 'http:' && url.protocol !== 'https:') return NO_HTTP;
  if (url.username === '' && url.password === '') return null;
  return 'must hold no user or password: set the API key, or an Authorization header among the extra headers';
}

const NO_HTTP = 'must begin with http:// or https://';
