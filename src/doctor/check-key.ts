import type { ProbeFailure } from '../llm/windows/http-probe.js';
import type { ChatAnswer } from './ask-chat.js';
import { type CheckResult, failed, ok, warn } from './check.js';
import type { Role } from './role.js';

/** Only a chat proves a key: some vendors show their list of models to anyone. */
export function checkKey({ endpoint, settings }: Role, chat: ChatAnswer | ProbeFailure): CheckResult {
  const hasKey = endpoint.apiKey !== null && endpoint.authHeader !== 'none';
  if (chat.kind === 'answer' && chat.outcome.kind === 'auth') {
    return failed(
      chat.outcome.message,
      hasKey
        ? `Correct ${settings.apiKey}: it may be of another vendor or project, or revoked`
        : `Set ${settings.apiKey}; no key was sent`,
    );
  }
  if (chat.kind === 'answer' && isProof(chat)) {
    return ok(hasKey ? 'accepted' : 'none is sent, and none is asked for');
  }
  return warn('not known: no chat was answered', 'See the rows below');
}

/** Endpoints look at the key first: every answer that is about the request itself says that the key was good. */
function isProof({ outcome }: ChatAnswer): boolean {
  return ['ok', 'bad_request', 'overflow', 'policy', 'quota', 'rate_limited'].includes(outcome.kind);
}
