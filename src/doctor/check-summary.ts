import { counted } from '../cli/number-text.js';
import type { Judgement } from '../compaction/accept.js';
import { KEPT_WORD, type SummaryAnswer } from './ask-summary.js';
import { type CheckResult, duration, failed, ok, warn } from './check.js';
import { failureAdvice } from './failure-advice.js';
import type { Role } from './role.js';
import type { Timed } from './time-limit.js';

/** Whether a compaction would have accepted the summary. */
export function checkSummary(
  role: Role,
  { value: { result, judgement }, ms }: Timed<SummaryAnswer>,
): CheckResult {
  const { outcome } = result;
  if (outcome.kind !== 'ok') {
    const seen = outcome.kind === 'aborted' ? `no summary within ${duration(ms)}` : outcome.message;
    return failed(seen, failureAdvice(outcome, role));
  }
  if (judgement?.verdict !== 'accepted') return rejected(judgement, role);
  const seen = `accepted: ${counted(judgement.summary.length, 'char')} in ${duration(ms)}`;
  if (judgement.summary.includes(KEPT_WORD)) return ok(seen);
  return warn(
    `${seen}, but without the number ${KEPT_WORD} of the conversation`,
    'Summaries of this model lose facts: a stronger one keeps identifiers word for word',
  );
}

type Rejection = Exclude<Judgement, { readonly verdict: 'accepted' }> | null;

function rejected(judgement: Rejection, { settings, endpoint }: Role): CheckResult {
  const cap = endpoint.maxOutputTokens === null ? null : settings.maxOutputTokens;
  switch (judgement?.verdict) {
    case 'refused':
      return failed(`rejected: ${judgement.reason}`, 'Use another model, or change its content filter');
    case 'truncated':
      return failed(
        'rejected: cut off by the output limit',
        cap === null ? "Raise the server's own limit for replies" : `Raise or remove ${cap}`,
      );
    case 'too_long':
      return failed(
        `rejected: ${counted(judgement.chars, 'char')} for two short messages`,
        'Use a model that follows instructions better',
      );
    default:
      return failed(
        'rejected: the summary is empty',
        `The reply may be all reasoning, or the prompt given back: use another model${cap === null ? '' : `, or raise ${cap}`}`,
      );
  }
}
