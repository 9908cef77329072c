import type { EndpointConfig } from '../endpoint.js';
import type { ProxyEnvironment } from '../proxies.js';
import { createEndpointProbe } from './endpoint-probe.js';
import { LearnedWindows } from './learned-windows.js';
import type { PromptSizes } from './lesson.js';
import type { FoundWindow } from './row-window.js';
import { servedWindow } from './served-window.js';
import { SharedResults } from './shared-results.js';
import type { ToldSizes } from './told-window.js';

/** For all requests of one probe together, in ms. A call that waits for it starts that much later at worst. */
export const PROBE_LIMIT_MS = 2_000;
/** Short, because models are loaded anew with other windows; shorter still where a model may be loading, in ms. */
const FOUND_LIFE_MS = 5 * 60_000;
const MISSED_LIFE_MS = 60_000;
/** Models remembered per endpoint: callers may name any. */
const MAX_MODELS = 200;

export interface ModelWindow {
  /** By the endpoint's count; a learned one by our estimate. */
  readonly tokens: number;
  /** The configuration, the endpoint's own word, or what it refused and accepted; believed in this order. */
  readonly source: 'configured' | 'served' | 'learned';
}

export interface WindowFinder {
  /**
   * The context window of a model; null when it is not known. Never rejects, and answers within the probe's limit
   * or a moment after the signal. Usually it answers at once: what was found is kept for minutes.
   */
  windowOf(model: string, signal: AbortSignal): Promise<ModelWindow | null>;
  /** The prompts to send, by what was learned; `searching` risks a refusal to find a larger size. Infinite at first. */
  promptSizes(model: string, searching: boolean): PromptSizes;
  /** A prompt of this size was answered. Sizes are by our own estimate, never the endpoint's count. */
  accepted(model: string, size: number): void;
  /** A prompt of this size was refused as too large; `told` as the refusal says it, in the endpoint's tokens. */
  refused(model: string, size: number, told: ToldSizes): void;
  /** Ends probes and connections; nothing is asked any more. */
  close(): Promise<void>;
}

export interface WindowFinderOptions {
  /** For all requests of one probe together, in ms. */
  readonly probeLimitMs?: number;
  /** Where `HTTP_PROXY`, `HTTPS_PROXY` and `NO_PROXY` are looked for: `process.env` by default. */
  readonly environment?: ProxyEnvironment;
  /** For tests: the time in ms, by which results and refusals grow old. */
  readonly now?: () => number;
}

/** Finds the windows of the models of one endpoint, over connections of its own. Throws on settings that cannot be used. */
export function createWindowFinder(
  endpoint: EndpointConfig,
  options: WindowFinderOptions = {},
): WindowFinder {
  const { probeLimitMs = PROBE_LIMIT_MS, now = () => performance.now() } = options;
  const { probe, urls } = createEndpointProbe(endpoint, options.environment);
  const closing = new AbortController();
  const learned = new LearnedWindows(MAX_MODELS, now);
  const served = new SharedResults<FoundWindow | null>(
    (model) => servedWindow({ probe, urls, model }, probeLimitMs, closing.signal),
    {
      lifeMs: (window) => (window === null ? MISSED_LIFE_MS : FOUND_LIFE_MS),
      maxKeys: MAX_MODELS,
      now,
    },
  );

  return {
    async windowOf(model, signal) {
      // The setting is about the configured model; a call may name another one.
      if (endpoint.windowTokens !== null && model === endpoint.model) {
        return { tokens: endpoint.windowTokens, source: 'configured' };
      }
      const isOver = signal.aborted || closing.signal.aborted;
      const found = isOver ? null : await unlessAborted(served.get(model), signal);
      if (found !== null) return { tokens: found.tokens, source: 'served' };
      const tokens = learned.windowOf(model);
      return tokens === null ? null : { tokens, source: 'learned' };
    },
    promptSizes: (model, searching) => learned.promptSizes(model, searching),
    accepted: (model, size) => learned.accepted(model, size),
    refused: (model, size, told) => learned.refused(model, size, told),
    async close() {
      closing.abort();
      await probe.close();
    },
  };
}

/** One caller's signal ends its own wait, not the probe that others share. */
async function unlessAborted<Value>(result: Promise<Value>, signal: AbortSignal): Promise<Value | null> {
  let giveUp: () => void = () => {};
  const aborted = new Promise<null>((resolve) => {
    giveUp = () => resolve(null);
    signal.addEventListener('abort', giveUp, { once: true });
  });
  try {
    return await Promise.race([result, aborted]);
  } finally {
    signal.removeEventListener('abort', giveUp);
  }
}
