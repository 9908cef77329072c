import type { Failure } from '../llm/outcome.js';
import type { Role } from './role.js';

/** What to do about a call that failed. */
export function failureAdvice(failure: Failure, { settings }: Role): string {
  switch (failure.kind) {
    case 'auth':
      return `Correct ${settings.apiKey}`;
    case 'quota':
      return 'Add credit or raise the quota at the vendor, or use another endpoint';
    case 'rate_limited':
      return 'Wait and run this again; if it stays so, ask the vendor for a higher rate';
    case 'overflow':
      return `Load the model with a larger window, or use one that has it (${settings.model})`;
    case 'policy':
      return 'The content filter blocks harmless text: change its settings, or use another model';
    case 'bad_request':
      return 'Look for the named field in the EXTRA_BODY setting, or in what the server supports';
    case 'timeout':
    case 'aborted':
      return 'Local models may load for a minute: run this again with --timeout 120';
    case 'unavailable':
      return "Look into the server's log, or wait until it has loaded the model";
    case 'incomplete':
      return 'Look for a proxy that cuts long answers';
    case 'empty':
    case 'protocol':
      return `Look whether ${settings.baseUrl} leads to an OpenAI-compatible API (often it ends in /v1)`;
  }
}
