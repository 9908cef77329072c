import { excerptMiddle, excerptStart } from './excerpt.js';
import type { ChatMessage, ContentPart } from './measure.js';

/**
 * Conversation messages as plain text. A summary request carries no roles, tools or tool calls of its own:
 * that is what makes it acceptable to every endpoint, whatever the history holds.
 *
 * A message is a label line and its text; messages are separated by a blank line. Messages without text or
 * marker render as ''.
 */

/** Names of the tool calls that results may still answer, by call id. */
export type CallNames = ReadonlyMap<string, string>;

/** Names in labels, short enough that the label of a continued message leaves room for its text. */
const MAX_NAME_CHARS = 64;
const MAX_LINK_CHARS = 500;

export interface TranscriptOptions {
  /** Longer tool results are excerpted head and tail; chars, at least 1. The stored row keeps all. */
  readonly toolResultChars: number;
}

/** The names that the results after `message` refer to: its own calls, or those of the group it belongs to. */
export function callNamesAfter(message: ChatMessage, before: CallNames): CallNames {
  if (message.role === 'tool') return before;
  const names = new Map<string, string>();
  for (const call of message.tool_calls ?? []) {
    if (typeof call.id === 'string')
      names.set(call.id, oneLine(call.function?.name ?? stringAt(call['custom'], 'name') ?? 'unknown'));
  }
  return names;
}

export function renderMessage(message: ChatMessage, calls: CallNames, options: TranscriptOptions): string {
  const blocks: string[] = [];
  const text = renderContent(message, options);
  if (text !== '') blocks.push(`[${label(message, calls)}]\n${withoutLabels(text)}`);
  for (const { name, input } of callsOf(message)) {
    blocks.push(`[assistant calls ${oneLine(name)}]\n${withoutLabels(input)}`);
  }
  return blocks.join('\n\n');
}

/** What an assistant calls, in each form that the API has or had: functions, custom tools, the one call of old. */
function callsOf(message: ChatMessage): { name: string; input: string }[] {
  const legacy = message['function_call'];
  const all: { readonly function?: unknown; readonly custom?: unknown }[] = [...(message.tool_calls ?? [])];
  if (typeof legacy === 'object' && legacy !== null) all.push({ function: legacy });
  return all.map((call) => ({
    name: stringAt(call.function, 'name') ?? stringAt(call.custom, 'name') ?? 'unknown',
    input: stringAt(call.function, 'arguments') ?? stringAt(call.custom, 'input') ?? '',
  }));
}

/**
 * Text in which no line looks like a label of ours: what a tool returned must not pose as the user. Such a line
 * is indented by one space and otherwise as it was.
 */
function withoutLabels(text: string): string {
  return text.replace(
    /^(?=\[(?:system|developer|user|assistant|tool result|result of|function)\b[^\n]*\]\s*$)/gim,
    ' ',
  );
}

/** The label of a message, as in the transcript's label lines but without brackets. */
export function label(message: ChatMessage, calls: CallNames): string {
  if (message.role === 'tool') {
    const name = calls.get(message.tool_call_id ?? '');
    return name === undefined ? 'tool result' : `result of ${name}`;
  }
  return !message.name ? message.role : `${message.role} (${oneLine(message.name)})`;
}

function renderContent(message: ChatMessage, options: TranscriptOptions): string {
  const { content } = message;
  const texts: string[] = [];
  if (typeof content === 'string') texts.push(content);
  else if (Array.isArray(content)) texts.push(...content.map(renderPart));
  if (typeof message.refusal === 'string' && message.refusal !== '')
    texts.push(`[refused] ${message.refusal}`);
  const text = texts.filter((part) => part !== '').join('\n');
  return message.role === 'tool' ? excerptMiddle(text, options.toolResultChars) : text;
}

function renderPart(part: ContentPart): string {
  switch (part.type) {
    case 'text':
      return typeof part.text === 'string' ? part.text : '';
    case 'refusal':
      return typeof part['refusal'] === 'string' ? `[refused] ${part['refusal']}` : '[refusal]';
    case 'image_url':
      return marker('image', linkOf(part['image_url'], 'url'));
    case 'file':
      return marker('file', stringAt(part['file'], 'filename'));
    case 'input_audio':
      return '[audio]';
    case 'input_text':
    case 'output_text':
      return typeof part.text === 'string' ? part.text : '';
    default:
      return [marker(oneLine(part.type), detailOf(part)), part.text]
        .filter((each) => typeof each === 'string')
        .join(' ');
  }
}

function marker(kind: string, detail: string | null): string {
  return detail === null ? `[${kind}]` : `[${kind}: ${oneLine(detail, MAX_LINK_CHARS)}]`;
}

/** What can be told of a part of unknown type: a link or a file name, on the part or under its type's name. */
function detailOf(part: ContentPart): string | null {
  for (const holder of [part[part.type], part]) {
    if (typeof holder !== 'object' || holder === null) continue;
    const link = Object.values(holder).find((value) => typeof value === 'string' && /^https?:/i.test(value));
    const found = typeof link === 'string' ? link : stringAt(holder, 'filename');
    if (found !== null) return found;
  }
  return null;
}

/** The address of something on the web; null for data URLs, whose megabytes say nothing to a summarizer. */
function linkOf(value: unknown, key: string): string | null {
  const url = stringAt(value, key);
  return url !== null && /^https?:/i.test(url) ? url : null;
}

function stringAt(value: unknown, key: string): string | null {
  if (typeof value === 'string') return value;
  if (typeof value !== 'object' || value === null) return null;
  const found = Object.entries(value).find(([name]) => name === key)?.[1];
  return typeof found === 'string' ? found : null;
}

/** Names come from outside: one that held a line break could pose as another message's label. */
function oneLine(text: string, maxChars = MAX_NAME_CHARS): string {
  return excerptStart(text.replace(/[\s\p{Cc}]+/gu, ' ').trim(), maxChars);
}
