import { contentText } from './content-text.js';
import { isRecord, listOf, member, nonBlank } from './narrow.js';
import type { Completion, Usage } from './outcome.js';
import { ToolCallSlots } from './tool-call-slots.js';
import { latest, NO_USAGE, usageIn } from './usage.js';

/**
 * Puts one reply together, from stream chunks or from a complete answer: both have the same parts, under `delta`
 * or under `message`. Only the first choice counts. Reasoning fields (`reasoning_content`, `reasoning`,
 * `thinking`, ...) never get into the text.
 */
export class ReplyAccumulator {
  readonly #toolCalls = new ToolCallSlots();
  #text = '';
  /** The end of the text that nobody has taken yet. */
  #fresh = '';
  #refusal = '';
  #reasoning = '';
  #finishReason: string | null = null;
  #model: string | null = null;
  #usage: Usage = NO_USAGE;
  #choiceSeen = false;

  /**
   * Takes one JSON document. True when it brought a part of the reply: text, reasoning, a refusal, a piece of a tool
   * call, or the first finish reason. That is what counts as life. Gateways send empty deltas and usage for as long
   * as they like while no model is at work behind them.
   */
  add(document: unknown): boolean {
    this.#usage = latest(this.#usage, usageIn(document));
    this.#model = nonBlank(member(document, 'model')) ?? this.#model;
    const choice = firstChoice(document);
    if (choice === null) return false;
    this.#choiceSeen = true;
    const finishReason = nonBlank(member(choice, 'finish_reason'));
    const finishes = finishReason !== null && this.#finishReason === null;
    this.#finishReason = finishReason ?? this.#finishReason;
    const delta = member(choice, 'delta');
    const part = isRecord(delta) ? delta : member(choice, 'message');
    if (isRecord(delta)) this.#addPart(delta, false);
    else this.#addMessage(part);
    return finishes || bringsSomething(part);
  }

  get usage(): Usage {
    return this.#usage;
  }

  get choiceSeen(): boolean {
    return this.#choiceSeen;
  }

  get finishReason(): string | null {
    return this.#finishReason;
  }

  /** The text that came since this was last asked for. */
  takeText(): string {
    const text = this.#fresh;
    this.#fresh = '';
    return text;
  }

  completion(): Completion {
    const toolCalls = this.#toolCalls.calls();
    return {
      kind: 'ok',
      text: this.#text,
      finishReason: this.#finishReason,
      refusal: this.#refusal === '' ? null : this.#refusal,
      toolCalls,
      ...(toolCalls.length === 0 || this.#reasoning === '' ? {} : { reasoning: this.#reasoning }),
      model: this.#model,
    };
  }

  #addMessage(message: unknown): void {
    // Some proxies close a stream with the whole message once more; taking it would double the text.
    const repeats = this.#text !== '' || this.#refusal !== '' || !this.#toolCalls.isEmpty;
    if (isRecord(message) && !repeats) this.#addPart(message, true);
  }

  #addPart(part: Readonly<Record<string, unknown>>, whole: boolean): void {
    const { text, refusal } = contentText(part['content']);
    this.#text += text;
    this.#fresh += text;
    this.#refusal += refusal + (typeof part['refusal'] === 'string' ? part['refusal'] : '');
    this.#reasoning += reasoningIn(part);
    const calls = listOf(part['tool_calls']);
    if (whole) this.#toolCalls.addWhole(calls);
    else if (calls.length > 0) this.#toolCalls.addDeltas(calls);
    if (isRecord(part['function_call'])) {
      // The form before `tool_calls`: there is one call at most, so all fragments share an index.
      this.#toolCalls.addDeltas([{ index: 0, function: part['function_call'] }]);
    }
  }
}

const REASONING_FIELDS = ['reasoning_content', 'reasoning', 'reasoning_text', 'thinking'];

/** Gateways send the same text under two names at once, so that only the first that holds any counts. */
function reasoningIn(part: Readonly<Record<string, unknown>>): string {
  const texts = REASONING_FIELDS.map((field) => part[field]).filter((text) => typeof text === 'string');
  return texts.find((text) => text !== '') ?? '';
}

/** Where a part holds what the model makes; the last two are reasoning that cannot be read, but is made. */
const MADE_FIELDS = [
  'content',
  'refusal',
  'tool_calls',
  'function_call',
  'audio',
  ...REASONING_FIELDS,
  'reasoning_details',
  'thinking_blocks',
];
/** Members of the pieces of a list that say which piece it is. */
const LABELS: readonly string[] = ['type', 'index', 'id', 'role', 'format'];
/** Deeper than any vendor's pieces are. */
const MAX_DEPTH = 6;

function bringsSomething(part: unknown): boolean {
  return MADE_FIELDS.some((field) => holdsText(member(part, field), 0));
}

function holdsText(value: unknown, depth: number): boolean {
  if (typeof value === 'string') return value !== '';
  if (depth > MAX_DEPTH) return false;
  if (Array.isArray(value)) return value.some((entry) => holdsText(entry, depth + 1));
  return (
    isRecord(value) &&
    Object.entries(value).some(([name, inner]) => !LABELS.includes(name) && holdsText(inner, depth + 1))
  );
}

/** The choice with index 0, or the first one where choices carry no index. */
export function firstChoice(document: unknown): unknown {
  const choices = listOf(member(document, 'choices')).filter(isRecord);
  return (
    choices.find((choice) => choice['index'] === 0) ??
    choices.find((choice) => typeof choice['index'] !== 'number') ??
    null
  );
}
