import { capLimitIn } from './cap-limit.js';
import type { ErrorFacts } from './error-facts.js';
import { parametersNamed } from './named-parameter.js';
import type { RequestFields } from './request-body.js';
import type { CapField, DroppableParameter, FormChange } from './request-form.js';

/** The names under which endpoints complain about a part of the request that can be sent in another form. */
const SUBJECTS: Readonly<Record<string, DroppableParameter>> = {
  max_tokens: 'cap',
  max_completion_tokens: 'cap',
  max_output_tokens: 'cap',
  max_new_tokens: 'cap',
  stream: 'stream',
  stream_options: 'stream_options',
  include_usage: 'stream_options',
  temperature: 'temperature',
  top_p: 'top_p',
  tool_choice: 'tool_choice',
  parallel_tool_calls: 'parallel_tool_calls',
};

const NO_STREAMING =
  /\bstream(?:ing)? (?:mode )?(?:is |are )?(?:not (?:supported|allowed|available|enabled)|unsupported)|(?:not|n't) support stream(?:ing)?\b|verified to stream/i;
const NOT_BOTH =
  /temperature\W{1,5}(?:and|or)\W{1,5}top_p\W.{0,200}(?:both|only one|together)|(?:both|only one of)\W{1,5}temperature\W{1,5}(?:and|or)\W{1,5}top_p/i;

/**
 * How to send a refused request once more, for the parameter that its error names; null when another form cannot
 * help. What the request did not hold is never changed, so an error that only quotes such words changes nothing.
 */
export function changeAfter(facts: ErrorFacts, sent: RequestFields): FormChange | null {
  const subject = subjectOf(facts, sent);
  if (subject === null) return null;
  return subject === 'cap' ? capChange(facts, sent) : { kind: 'drop', parameter: subject };
}

function subjectOf(facts: ErrorFacts, sent: RequestFields): DroppableParameter | null {
  const named = parametersNamed(facts)
    .map((name) => (Object.hasOwn(SUBJECTS, name) ? SUBJECTS[name] : undefined))
    .find((subject) => subject !== undefined && isSent(subject, sent));
  if (named !== undefined) return named;
  if (isSent('stream', sent) && NO_STREAMING.test(facts.text)) return 'stream';
  return isSent('temperature', sent) && isSent('top_p', sent) && NOT_BOTH.test(facts.text) ? 'top_p' : null;
}

function isSent(subject: DroppableParameter, sent: RequestFields): boolean {
  return subject === 'cap' ? sentCap(sent) !== null : Object.hasOwn(sent, subject);
}

/** A number in the error that is below the cap means that the cap is too large, none that its name is unknown. */
function capChange({ text }: ErrorFacts, sent: RequestFields): FormChange | null {
  const cap = sentCap(sent);
  if (cap === null) return null;
  const limit = capLimitIn(text);
  if (limit !== null && limit.tokens < cap.tokens) {
    return { kind: 'clamp_cap', to: limit.tokens, lasting: limit.lasting };
  }
  return { kind: 'rename_cap', to: cap.field === 'max_tokens' ? 'max_completion_tokens' : 'max_tokens' };
}

function sentCap(sent: RequestFields): { readonly field: CapField; readonly tokens: number } | null {
  const fields: readonly CapField[] = ['max_tokens', 'max_completion_tokens'];
  for (const field of fields) {
    const tokens = sent[field];
    if (typeof tokens === 'number') return { field, tokens };
  }
  return null;
}
