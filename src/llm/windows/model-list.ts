import { isRecord, type JsonRecord, listOf, member, nonBlank } from '../narrow.js';

/** The rows of a list of models: a bare array, or under `data` or `models`. Null when it is no such list. */
export function modelRows(document: unknown): readonly JsonRecord[] | null {
  const list = [document, member(document, 'data'), member(document, 'models')].find(Array.isArray);
  return list === undefined ? null : listOf(list).filter(isRecord);
}

/** What a row calls its model: `id` in the lists made for OpenAI's clients, other words in the servers' own. */
export function idOf(row: JsonRecord): string | null {
  return (
    nonBlank(row['id']) ??
    nonBlank(row['model']) ??
    nonBlank(row['key']) ??
    nonBlank(row['model_name']) ??
    nonBlank(row['name'])
  );
}

/**
 * The rows of one model; a gateway with several deployments of it has several. Gemini lists `models/x` for what is
 * called `x`, and Ollama `x:latest`.
 */
export function rowsOf(rows: readonly JsonRecord[], model: string): readonly JsonRecord[] {
  const wanted = plainId(model);
  return rows.filter((row) => {
    const id = idOf(row);
    return id !== null && plainId(id) === wanted;
  });
}

function plainId(id: string): string {
  return id.replace(/^models\//, '').replace(/:latest$/, '');
}
