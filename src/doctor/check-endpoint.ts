import type { Config } from '../config.js';
import { type ChatClient, createChatClient } from '../llm/client.js';
import { createEndpointProbe, type EndpointProbe } from '../llm/windows/endpoint-probe.js';
import { servedWindow } from '../llm/windows/served-window.js';
import { PROBE_LIMIT_MS } from '../llm/windows/window-finder.js';
import { askChat } from './ask-chat.js';
import { askSummary } from './ask-summary.js';
import { type CheckResult, failed, type Row, skipped } from './check.js';
import { checkKey } from './check-key.js';
import { checkModel, refusesModel } from './check-model.js';
import { checkReachable } from './check-reachable.js';
import { checkStream } from './check-stream.js';
import { checkSummary } from './check-summary.js';
import { checkUsage } from './check-usage.js';
import { checkWindow } from './check-window.js';
import { hasRoom, summarizerOf } from './endpoint-summary.js';
import type { Role } from './role.js';
import { withTimeLimit } from './time-limit.js';

const CHECKS = ['reachable', 'key', 'model', 'streams', 'usage', 'window', 'summary'] as const;

type Results = Partial<Record<(typeof CHECKS)[number], CheckResult>>;

/**
 * Asks one endpoint everything, one question after the other (local servers have one slot), each for at most
 * `limitMs`.
 */
export async function checkEndpoint(role: Role, config: Config, limitMs: number): Promise<readonly Row[]> {
  const results = await open({ role, config, limitMs });
  return CHECKS.map((check) => ({ check, ...(results[check] ?? skipped('the endpoint is not reached')) }));
}

async function open(settings: Omit<Examination, 'asking' | 'client'>): Promise<Results> {
  const { endpoint } = settings.role;
  let asking: EndpointProbe;
  let client: ChatClient;
  try {
    asking = createEndpointProbe(endpoint);
    client = createChatClient({ ...endpoint, retries: 0 });
  } catch (error) {
    // A base URL, a header or a proxy that no request could be sent with.
    return {
      reachable: failed(error instanceof Error ? error.message : String(error), 'Correct this setting'),
    };
  }
  try {
    return await examine({ ...settings, asking, client });
  } finally {
    await Promise.all([asking.probe.close(), client.close()]);
  }
}

interface Examination {
  readonly role: Role;
  readonly config: Config;
  readonly limitMs: number;
  readonly asking: EndpointProbe;
  readonly client: ChatClient;
}

async function examine({ role, config, limitMs, asking, client }: Examination): Promise<Results> {
  const { probe, urls, clean } = asking;
  const list = await withTimeLimit(limitMs, (signal) => probe.get(urls.models, signal));
  // A refused connection stays refused; a list that hangs says nothing about the chat.
  if (list.value.kind === 'failed' && list.value.cause === 'connection') {
    return { reachable: checkReachable(role, list, null, clean) };
  }
  const chat = await withTimeLimit(limitMs, (signal) => askChat(asking, role.endpoint, signal));
  const reachable = checkReachable(role, list, chat, clean);
  if (reachable.result === 'failed') return { reachable };

  const key = checkKey(role, chat.value);
  const served = await withTimeLimit(limitMs, (signal) =>
    servedWindow({ probe, urls, model: role.endpoint.model }, PROBE_LIMIT_MS, signal),
  );
  const discovered = config.windowDiscovery ? served.value : null;
  const windowTokens = role.endpoint.windowTokens ?? discovered?.tokens ?? null;
  const summarizer = summarizerOf(client, role.endpoint, windowTokens, config);
  const results = {
    reachable,
    key,
    model: checkModel(role, list.value, chat.value, clean),
    streams: checkStream(role, chat),
    window: checkWindow(role, {
      served: served.value,
      isAskedFor: config.windowDiscovery,
      isTooSmall: !hasRoom(summarizer, config),
      chunkChars: config.summaryChunkChars,
    }),
  };
  if (chat.value.kind === 'failed' || key.result === 'failed' || refusesModel(chat.value)) {
    const none = skipped('no chat was answered');
    return { ...results, usage: none, summary: none };
  }
  const summary = await withTimeLimit(limitMs, (signal) =>
    askSummary(summarizer, config.summaryMaxChars, signal),
  );
  const { outcome, usage } = summary.value.result;
  return {
    ...results,
    usage: outcome.kind === 'ok' ? checkUsage(usage) : skipped('no summary was answered'),
    summary: checkSummary(role, summary),
  };
}
