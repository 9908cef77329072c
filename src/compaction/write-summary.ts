import { AppError } from '../errors.js';
import type { Completion, Overflow } from '../llm/outcome.js';
import { type Judgement, judgeReply } from './accept.js';
import { costOf } from './budget.js';
import type { Ledger } from './ledger.js';
import { modelError } from './model-error.js';
import { summaryPrompt } from './prompt.js';
import type { Summarizer, SummaryRequest } from './summarizer.js';

/** The text of EMPTY_SUMMARY is part of the contract: clients match it. */
const EMPTY_DETAIL = 'LLM returned an empty summary';
/** A cut reply may be tried once more with this many times the configured output cap. */
const CAP_FACTOR = 2;

export type WrittenSummary =
  | { readonly kind: 'summary'; readonly summary: string }
  /** The request was too large for the model; the caller may try a smaller one. */
  | { readonly kind: 'overflow'; readonly overflow: Overflow }
  /** Another endpoint is asked from now on: the caller begins this piece again, by its limits. */
  | HandedOver;

interface HandedOver {
  readonly kind: 'handed_over';
}

export interface WriteOptions {
  readonly summarizer: Summarizer;
  readonly ledger: Ledger;
  readonly allows: (summary: string) => boolean;
}

/**
 * Asks for one summary and judges the reply; once more where a second try may be better: a shorter one after
 * one that was too long, a larger output cap after a cut or empty one if a cap was configured.
 * Throws an AppError that names the cause otherwise.
 */
export async function writeSummary(
  ask: Pick<SummaryRequest, 'previousSummary' | 'transcript' | 'instructions' | 'maxChars' | 'signal'>,
  options: WriteOptions,
): Promise<WrittenSummary> {
  const { summarizer } = options;
  const first: SummaryRequest = { ...ask, lastReplyChars: null, maxOutputTokens: null };
  const reply = await request(first, options);
  if (reply.kind === 'handed_over') return reply;
  if (reply.kind === 'overflow') return { kind: 'overflow', overflow: reply };
  const judgement = judgeReply(reply, options.allows, ask.maxChars);
  const again = secondTry(first, judgement, summarizer);
  if (again === null) return settled(judgement, ask.maxChars);
  const second = await request(again, options);
  if (second.kind === 'handed_over') return second;
  // Whatever the second request ran into: the first one fit, and its verdict stands.
  if (second.kind === 'overflow') return settled(judgement, ask.maxChars);
  return settled(judgeReply(second, options.allows, ask.maxChars), ask.maxChars);
}

async function request(
  ask: SummaryRequest,
  { summarizer, ledger }: WriteOptions,
): Promise<Completion | Overflow | HandedOver> {
  ask.signal.throwIfAborted();
  const result = await summarizer.summarize(ask);
  ledger.add(result);
  // Even a good reply is worth nothing to a caller who has gone.
  ask.signal.throwIfAborted();
  const { outcome } = result;
  if (result.isHandedOver === true) return { kind: 'handed_over' };
  if (outcome.kind === 'ok' || outcome.kind === 'overflow') return outcome;
  throw modelError(outcome, result.answeredBy ?? summarizer.model);
}

function secondTry(
  first: SummaryRequest,
  judgement: Judgement,
  summarizer: Summarizer,
): SummaryRequest | null {
  if (judgement.verdict === 'too_long') return { ...first, lastReplyChars: judgement.chars };
  const cut = judgement.verdict === 'truncated' || judgement.verdict === 'empty';
  const raised = cut ? raisedCap(first, summarizer) : null;
  return raised === null ? null : { ...first, maxOutputTokens: raised };
}

/** The cap of a second try, in tokens: as much more as the window allows; null when there is none to raise. */
function raisedCap(first: SummaryRequest, { maxOutputTokens: cap, budget }: Summarizer): number | null {
  if (cap === null) return null;
  if (budget.unit === 'chars') return cap * CAP_FACTOR;
  const room = budget.windowTokens - costOf(summaryPrompt(first), 'tokens');
  return room > cap ? Math.min(cap * CAP_FACTOR, room) : null;
}

function settled(judgement: Judgement, maxChars: number): WrittenSummary {
  switch (judgement.verdict) {
    case 'accepted':
      return { kind: 'summary', summary: judgement.summary };
    case 'empty':
      throw new AppError('EMPTY_SUMMARY', EMPTY_DETAIL);
    case 'refused':
      throw new AppError('SUMMARY_REFUSED', `No summary was written: ${judgement.reason}`);
    case 'truncated':
      throw new AppError('SUMMARY_TRUNCATED', 'The summary was cut off by the output limit of the model');
    case 'too_long':
      throw new AppError(
        'SUMMARY_TOO_LONG',
        `The summary has ${judgement.chars} chars, at most ${maxChars} were asked for`,
      );
  }
}
