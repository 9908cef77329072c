import type { Usage } from '../llm/outcome.js';
import { type CheckResult, ok, warn } from './check.js';

/** Whether the endpoint counts tokens: without that nobody sees what summaries cost, or that a prompt was cut. */
export function checkUsage({ inputTokens, outputTokens }: Usage): CheckResult {
  if (inputTokens !== null && outputTokens !== null) {
    return ok(`${inputTokens} tokens in, ${outputTokens} out`);
  }
  const seen =
    inputTokens === null && outputTokens === null
      ? 'not reported'
      : `only reported for ${inputTokens === null ? 'output' : 'input'}`;
  return warn(seen, 'Costs are not recorded, and a prompt that the server cuts is not noticed');
}
