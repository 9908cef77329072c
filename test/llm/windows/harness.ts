import { onTestFinished } from 'vitest';
import type { EndpointConfig } from '../../../src/llm/endpoint.js';
import {
  createWindowFinder,
  type ModelWindow,
  type WindowFinder,
  type WindowFinderOptions,
} from '../../../src/llm/windows/window-finder.js';
import { type RawResponse, type RawServer, rawResponse } from '../../support/raw-server.js';
import { endpoint, serve } from '../harness.js';

/** Answers by `METHOD /path?query`: an object is sent as JSON with status 200; `hang` never answers. */
export type Routes = Readonly<Record<string, object | 'hang'>>;

export const raw = (response: RawResponse): { readonly response: RawResponse } => ({ response });

const isRaw = (answer: object): answer is { readonly response: RawResponse } => 'response' in answer;

/** A server with these routes; any other is answered as `elsewhere` says, by default with 404. */
export function serveRoutes(
  routes: Routes,
  elsewhere: object = raw({ status: 404, body: '{"detail":"Not Found"}' }),
): Promise<RawServer> {
  return serve(async (connection, { method, path }) => {
    const answer = routes[`${method} ${path}`] ?? elsewhere;
    if (answer === 'hang') await connection.closed;
    else connection.write(rawResponse(isRaw(answer) ? answer.response : { body: JSON.stringify(answer) }));
  });
}

/** A finder that is closed when the test ends. */
export function finderFor(
  baseUrl: string,
  overrides: Partial<EndpointConfig> = {},
  options: WindowFinderOptions = {},
): WindowFinder {
  const finder = createWindowFinder(endpoint(baseUrl, overrides), options);
  onTestFinished(() => finder.close());
  return finder;
}

export function windowOf(finder: WindowFinder, model: string): Promise<ModelWindow | null> {
  return finder.windowOf(model, new AbortController().signal);
}

/** What a server with these routes says about a model, and the paths that it was asked, in any order. */
export async function askedAbout(
  model: string,
  routes: Routes,
  elsewhere?: object,
): Promise<{ window: ModelWindow | null; paths: string[] }> {
  const server = await serveRoutes(routes, elsewhere);
  const window = await windowOf(finderFor(`${server.url}/v1`), model);
  return { window, paths: server.requests.map(({ method, path }) => `${method} ${path}`).toSorted() };
}

export const served = (tokens: number): ModelWindow => ({ tokens, source: 'served' });
