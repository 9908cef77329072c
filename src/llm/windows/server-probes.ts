import { isRecord, listOf, member, nonBlank, parseJson } from '../narrow.js';
import type { HttpProbe, ProbeResult } from './http-probe.js';
import { modelRows, rowsOf } from './model-list.js';
import type { ProbeUrls } from './probe-urls.js';
import { type FoundWindow, windowInRow } from './row-window.js';
import { smallest, windowIn } from './token-count.js';

/** What a probe needs to ask about one model. */
export interface Asking {
  readonly probe: HttpProbe;
  readonly urls: ProbeUrls;
  readonly model: string;
  readonly signal: AbortSignal;
}

export type ServerProbe = (asking: Asking) => Promise<FoundWindow | null>;

/**
 * The document of a good answer; undefined for everything else. LM Studio answers 200 with an error to any path,
 * so that a document proves nothing: each probe looks for its own fields.
 */
export function documentIn(result: ProbeResult): unknown {
  if (result.kind === 'failed' || result.status < 200 || result.status >= 300) return undefined;
  return parseJson(result.text.replace(/^\uFEFF/, '').trim());
}

/** The list that every server has; many name the window in it. */
export const askModelList: ServerProbe = async ({ probe, urls, model, signal }) => {
  const rows = modelRows(documentIn(await probe.get(urls.models, signal))) ?? [];
  return smallest(rowsOf(rows, model).map((row) => windowInRow(row, urls.models.pathname)));
};

/**
 * llama.cpp: the window of one slot, which is what one request gets. A router that serves several models says 0
 * until it is asked for one of them; being asked must not make it load that model.
 */
export const askLlamaCpp: ServerProbe = async ({ probe, urls, model, signal }) => {
  const ask = async (path: string): Promise<number | 'other' | null> => {
    const settings = member(
      documentIn(await probe.get(urls.beside(path), signal)),
      'default_generation_settings',
    );
    return isRecord(settings) ? windowIn(settings['n_ctx']) : 'other';
  };
  const found = async (path: string): Promise<FoundWindow | null> => {
    const tokens = await ask(path);
    if (typeof tokens === 'number') return { tokens, where: '/props, n_ctx' };
    const isRouter = tokens === null && path === '/props';
    return isRouter ? found(`/props?model=${encodeURIComponent(model)}&autoload=false`) : null;
  };
  return found('/props');
};

/**
 * Ollama: the window that the model is loaded with. Where it is not loaded, or the version is too old to say, the one
 * that the model's own file sets, if it does; else the window depends on the server's memory.
 */
export const askOllama: ServerProbe = async ({ probe, urls, model, signal }) => {
  const running = member(documentIn(await probe.get(urls.beside('/api/ps'), signal)), 'models');
  if (!Array.isArray(running)) return null;
  const rows = rowsOf(listOf(running).filter(isRecord), model);
  const loaded = rows.map((row) => windowIn(row['context_length'])).find((tokens) => tokens !== null);
  if (loaded !== undefined) return { tokens: loaded, where: '/api/ps, context_length' };
  const shown = documentIn(
    await probe.post(urls.beside('/api/show'), JSON.stringify({ model: model.toWellFormed() }), signal),
  );
  const parameters = nonBlank(member(shown, 'parameters')) ?? '';
  const tokens = windowIn(/^num_ctx\s+(\d+)\s*$/m.exec(parameters)?.[1]);
  return tokens === null ? null : { tokens, where: '/api/show, num_ctx' };
};

/** LM Studio 0.4 and later: the windows of the loaded instances. */
export const askLmStudio: ServerProbe = async ({ probe, urls, model, signal }) => {
  const rows = modelRows(documentIn(await probe.get(urls.beside('/api/v1/models'), signal))) ?? [];
  const instances = rowsOf(rows, model).flatMap((row) => listOf(row['loaded_instances']));
  return smallest(
    instances.map((instance) => {
      const tokens = windowIn(member(member(instance, 'config'), 'context_length'));
      return tokens === null ? null : { tokens, where: '/api/v1/models, loaded_instances' };
    }),
  );
};

/** LM Studio before 0.4. A model that is not loaded has no window yet, only the largest it could have. */
export const askOldLmStudio: ServerProbe = async ({ probe, urls, model, signal }) => {
  const rows = modelRows(documentIn(await probe.get(urls.beside('/api/v0/models'), signal))) ?? [];
  return smallest(
    rowsOf(rows, model).map((row) => {
      const tokens = windowIn(row['loaded_context_length']);
      return tokens === null ? null : { tokens, where: '/api/v0/models, loaded_context_length' };
    }),
  );
};

/** LiteLLM's proxy: each deployment of the model; the call may go to any of them. */
export const askLiteLlm: ServerProbe = async ({ probe, urls, model, signal }) => {
  const rows = listOf(member(documentIn(await probe.get(urls.beside('/model/info'), signal)), 'data'));
  return smallest(
    rowsOf(rows.filter(isRecord), model).map((row) => {
      const tokens = windowIn(member(row['model_info'], 'max_input_tokens'));
      return tokens === null ? null : { tokens, where: '/model/info, max_input_tokens' };
    }),
  );
};
