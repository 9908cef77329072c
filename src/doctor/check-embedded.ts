import { counted } from '../cli/number-text.js';
import { createEmbeddedSummarizer } from '../summarizer/embedded-summarizer.js';
import { askSummary } from './ask-summary.js';
import { type CheckResult, duration, failed, ok } from './check.js';
import { withTimeLimit } from './time-limit.js';

/** Whether the summarizer that needs no endpoint works here: it runs in a thread of its own. */
export async function checkEmbedded(summaryMaxChars: number, limitMs: number): Promise<CheckResult> {
  const embedded = createEmbeddedSummarizer();
  try {
    const { value, ms } = await withTimeLimit(limitMs, (signal) =>
      askSummary(embedded, summaryMaxChars, signal),
    );
    const { judgement, result } = value;
    if (judgement?.verdict === 'accepted') {
      return ok(`accepted: ${counted(judgement.summary.length, 'char')} in ${duration(ms)}`);
    }
    const seen =
      result.outcome.kind === 'ok' ? `rejected: ${judgement?.verdict ?? ''}` : result.outcome.message;
    return failed(seen, 'Install and build this again: npm ci && npm run build');
  } finally {
    await embedded.close();
  }
}
