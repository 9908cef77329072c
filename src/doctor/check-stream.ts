import { counted } from '../cli/number-text.js';
import type { ProbeFailure } from '../llm/windows/http-probe.js';
import type { ChatAnswer } from './ask-chat.js';
import { type CheckResult, duration, failed, ok, skipped, warn } from './check.js';
import { refusesModel } from './check-model.js';
import { failureAdvice } from './failure-advice.js';
import type { Role } from './role.js';
import type { Timed } from './time-limit.js';

/** Whether replies come as a stream. Others are read too, but a slow one looks like a hang until it is complete. */
export function checkStream(role: Role, { value: chat, ms }: Timed<ChatAnswer | ProbeFailure>): CheckResult {
  if (chat.kind === 'failed') {
    return failed(
      `POST chat/completions: ${chat.message}`,
      'Local models may load for a minute: run this again with --timeout 120',
    );
  }
  const { outcome } = chat;
  if (outcome.kind === 'ok') {
    if (chat.events > 0) return ok(`${counted(chat.events, 'event')} in ${duration(ms)}`);
    return warn(
      'a stream was asked for, the reply came in one piece',
      'It works. Turn streaming on in the server or gateway, or allow for slow replies with the timeouts',
    );
  }
  if (outcome.kind === 'auth' || refusesModel(chat)) return skipped('no chat was answered');
  return failed(outcome.message, failureAdvice(outcome, role));
}
