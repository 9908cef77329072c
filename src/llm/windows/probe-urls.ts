/** Where the questions beside the chat go, derived from the address that completions are posted to. */
export interface ProbeUrls {
  /** The list of models, beside the chat: `{base}/models`, with the query of the chat (Azure's `api-version`). */
  readonly models: URL;
  /** A path of the server itself, such as `/props`: beside `/v1`, also behind a proxy's prefix. */
  beside(path: string): URL;
}

/**
 * - `http://h:1/v1/chat/completions`     -> `http://h:1/v1/models` and `http://h:1/props`
 * - `http://h:1/x/v1/chat/completions`   -> `http://h:1/x/v1/models` and `http://h:1/x/props`
 *
 * Always on the origin of the chat, so that the key goes nowhere else.
 */
export function probeUrls(completions: URL): ProbeUrls {
  const base = completions.pathname.replace(/\/chat\/completions$/, '');
  const root = base.replace(/\/v\d+$/, '');
  const models = new URL(completions);
  models.pathname = `${base}/models`;
  return {
    models,
    beside: (path) => {
      const url = new URL(completions.origin);
      const [pathname = '', query = ''] = path.split('?');
      url.pathname = `${root}${pathname}`;
      url.search = query;
      return url;
    },
  };
}

/** Services that are none of the servers which people run themselves: asking for `/props` and the like is vain. */
const HOSTED =
  /(?:^|\.)(?:openai\.com|azure\.com|anthropic\.com|googleapis\.com|deepseek\.com|x\.ai|mistral\.ai|groq\.com|openrouter\.ai|together\.(?:xyz|ai)|fireworks\.ai|cerebras\.ai)$/i;

export function isHostedVendor({ hostname }: URL): boolean {
  return HOSTED.test(hostname);
}
