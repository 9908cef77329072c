import { counted } from '../cli/number-text.js';
import type { CleanText } from '../llm/redact.js';
import type { ProbeFailure, ProbeResult } from '../llm/windows/http-probe.js';
import { idOf, modelRows, rowsOf } from '../llm/windows/model-list.js';
import { documentIn } from '../llm/windows/server-probes.js';
import type { ChatAnswer } from './ask-chat.js';
import { type CheckResult, failed, ok, skipped, warn } from './check.js';
import type { Role } from './role.js';

const MAX_SUGGESTIONS = 3;
const MAX_ID_CHARS = 60;
const UNKNOWN_MODEL =
  /model.*(?:not found|not exist|not available|unknown|invalid)|(?:unknown|invalid|no such) model/i;

/** Whether the endpoint has the model: in its list, where there is one, and in its answer to a chat. */
export function checkModel(
  { endpoint, settings }: Role,
  list: ProbeResult,
  chat: ChatAnswer | ProbeFailure,
  clean: CleanText,
): CheckResult {
  const rows = modelRows(documentIn(list)) ?? [];
  const ids = rows.map(idOf).filter((id) => id !== null);
  const isListed = rowsOf(rows, endpoint.model).length > 0;
  const name = clean(endpoint.model, MAX_ID_CHARS);
  const answers = chat.kind === 'answer' && chat.outcome.kind === 'ok';
  if (refusesModel(chat)) {
    const suggestions = nearest(ids, endpoint.model).map((id) => clean(id, MAX_ID_CHARS));
    const advice =
      suggestions.length === 0
        ? `Correct ${settings.model}, or ${settings.baseUrl} if its path is wrong`
        : `Set ${settings.model} to one that is there, such as ${suggestions.join(', ')}`;
    return failed(chat.outcome.message, advice);
  }
  if (isListed) return ok(`${name} is one of ${counted(ids.length, 'listed model')}`);
  if (answers) {
    return ids.length === 0
      ? ok(`${name} answers; there is no list of models`)
      : warn(
          `${name} answers, but is not among ${counted(ids.length, 'listed model')}`,
          'Look whether the server ignores the name and answers with another model',
        );
  }
  return skipped('not known: no chat was answered');
}

/** The endpoint says that it does not have the model, or nothing at this address. */
export function refusesModel(
  chat: ChatAnswer | ProbeFailure,
): chat is ChatAnswer & { outcome: { kind: 'bad_request'; message: string } } {
  if (chat.kind !== 'answer' || chat.outcome.kind !== 'bad_request') return false;
  return chat.status === 404 || UNKNOWN_MODEL.test(chat.outcome.message);
}

/** The ids that share the longest beginning with the one that was wrong, most alike first. */
function nearest(ids: readonly string[], wanted: string): readonly string[] {
  const shared = (id: string): number => {
    let length = 0;
    while (length < id.length && id[length]?.toLowerCase() === wanted[length]?.toLowerCase()) length += 1;
    return length;
  };
  return ids.toSorted((a, b) => shared(b) - shared(a)).slice(0, MAX_SUGGESTIONS);
}
