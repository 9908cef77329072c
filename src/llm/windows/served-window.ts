import { isHostedVendor } from './probe-urls.js';
import type { FoundWindow } from './row-window.js';
import {
  type Asking,
  askLiteLlm,
  askLlamaCpp,
  askLmStudio,
  askModelList,
  askOldLmStudio,
  askOllama,
  type ServerProbe,
} from './server-probes.js';

/** Servers that people run themselves: which one it is shows in what it answers. */
const OWN_SERVERS: readonly ServerProbe[] = [askLlamaCpp, askOllama, askLmStudio, askOldLmStudio, askLiteLlm];

/**
 * The window that the endpoint says it serves the model with; null when it says nothing in time. Hosted vendors
 * need one request. The others are asked for the list first, alone, and only where it names no window for what
 * each kind of server has beside it, all at once.
 *
 * @param limitMs for all requests together, in ms; half of it for the list, so that a list that hangs hides nothing
 */
export async function servedWindow(
  asking: Omit<Asking, 'signal'>,
  limitMs: number,
  stop: AbortSignal,
): Promise<FoundWindow | null> {
  const list = new AbortController();
  const all = new AbortController();
  const end = (): void => {
    list.abort();
    all.abort();
  };
  // Plain timers and listeners: signals made of others are collected too early, or too late, by some Node versions.
  const listTimer = setTimeout(() => list.abort(), limitMs / 2);
  const timer = setTimeout(end, limitMs);
  stop.addEventListener('abort', end, { once: true });
  if (stop.aborted) end();
  try {
    const listed = await askModelList({ ...asking, signal: list.signal });
    if (listed !== null || isHostedVendor(asking.urls.models)) return listed;
    return await firstFound(OWN_SERVERS.map((ask) => ask({ ...asking, signal: all.signal })));
  } finally {
    clearTimeout(listTimer);
    clearTimeout(timer);
    stop.removeEventListener('abort', end);
    end();
  }
}

/** The first window that anyone finds, without waiting for the rest; null when all have found none. */
function firstFound(answers: readonly Promise<FoundWindow | null>[]): Promise<FoundWindow | null> {
  return new Promise((resolve, reject) => {
    for (const answer of answers) answer.then((window) => window !== null && resolve(window), reject);
    Promise.all(answers).then(() => resolve(null), reject);
  });
}
