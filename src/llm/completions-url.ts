const SUFFIX = '/chat/completions';

/**
 * The address that chat completions are posted to, from a base URL as people write it. Vendors differ in what
 * they put before the suffix (`/v1`, `/api/v1`, `/openai/v1`, `/v1beta/openai`, a proxy's own path), so only an
 * empty path gets `/v1`; any other path is kept as it is. A query string is kept (Azure's `api-version`).
 *
 * - `http://h:1`, `http://h:1/`            -> `http://h:1/v1/chat/completions`
 * - `http://h:1/proxy/v1/`                 -> `http://h:1/proxy/v1/chat/completions`
 * - `http://h:1/x/chat/completions`        -> unchanged
 *
 * Throws on what is not an http(s) URL: that is a mistake in the settings, found when the client is created.
 */
export function completionsUrl(baseUrl: string): URL {
  const url = URL.canParse(baseUrl.trim()) ? new URL(baseUrl.trim()) : null;
  if (url === null || (url.protocol !== 'http:' && url.protocol !== 'https:')) {
    throw new Error('The base URL of a model endpoint must begin with http:// or https://');
  }
  const path = url.pathname.replace(/\/+$/, '');
  if (path.endsWith(SUFFIX)) url.pathname = path;
  else url.pathname = path === '' ? `/v1${SUFFIX}` : `${path}${SUFFIX}`;
  url.hash = '';
  return url;
}
