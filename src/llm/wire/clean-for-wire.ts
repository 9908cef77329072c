import { answerCalls } from './answer-calls.js';
import { bridgeToolToUser } from './bridge-tool-to-user.js';
import { callArguments } from './call-arguments.js';
import { callIds } from './call-ids.js';
import { callType } from './call-type.js';
import { dropEmpty } from './drop-empty.js';
import { emptyParts } from './empty-parts.js';
import { fillEmpty } from './fill-empty.js';
import { firstUser } from './first-user.js';
import { foldSystem } from './fold-system.js';
import { mergeTurns } from './merge-turns.js';
import { isOn, type WireOptions } from './options.js';
import { ownFields } from './own-fields.js';
import { placeResults } from './place-results.js';
import { portableNames } from './portable-names.js';
import { refusalText } from './refusal-text.js';
import { resultNames } from './result-names.js';
import { singleSystem } from './single-system.js';
import { stringContent } from './string-content.js';
import { dropName, stripReasoning } from './strip-fields.js';
import { systemRole } from './system-role.js';
import { textBeforeCalls } from './text-before-calls.js';
import { wireToolNames } from './tool-names.js';
import { wellFormed } from './well-formed.js';
import type { StoredMessage, WireMessage } from './wire-message.js';

/**
 * The copy of a message list that is sent to an endpoint, with everything repaired that endpoints refuse.
 * Nothing given is changed; a message with nothing to repair is passed on as the same object. Cleaning a
 * clean list changes nothing.
 *
 * First each message by itself, then the list. The order of the list's repairs matters: system messages leave
 * the places between calls and results, results find their calls, emptiness goes, and only then is it known
 * which calls are unanswered, which turns are neighbours and which ids there are.
 */
export function cleanForWire(messages: readonly StoredMessage[], options: WireOptions = {}): WireMessage[] {
  const alternate = options.strictAlternation === true;
  const empty = emptyBesideCalls(options);
  let list: readonly WireMessage[] = messages.map((message) => cleanMessage(message, options));
  if (isOn(options, 'singleSystem')) list = singleSystem(list);
  list = placeResults(list);
  list = dropEmpty(list);
  list = answerCalls(list, options.pendingCalls === 'keep');
  if (options.noSystemRole) list = foldSystem(list);
  if (alternate) list = mergeTurns(list);
  if (options.textBeforeCalls) list = textBeforeCalls(list, alternate, empty);
  if (isOn(options, 'bridgeToolToUser')) list = bridgeToolToUser(list);
  if (isOn(options, 'firstUser')) list = firstUser(list);
  list = callIds(list, options.shortCallIds === true);
  if (options.resultNames) list = resultNames(list);
  return [...list];
}

/** What can be told from a message alone: its fields first, then its content, which some of them become. */
function cleanMessage(stored: StoredMessage, options: WireOptions): WireMessage {
  let message = callArguments(wellFormed(stored));
  if (!options.keepDeveloper) message = systemRole(message);
  message = ownFields(message);
  message = callType(message);
  message = refusalText(message);
  if (options.portableNames) message = portableNames(message, options.toolNames ?? NO_TOOLS);
  if (options.dropName && !(options.resultNames && message.role === 'tool')) message = dropName(message);
  if (options.stripReasoning) message = stripReasoning(message);
  message = emptyParts(message);
  if (options.stringContent) message = stringContent(message);
  return fillEmpty(message, emptyBesideCalls(options));
}

function emptyBesideCalls({ emptyStringWithCalls }: WireOptions): '' | null {
  return emptyStringWithCalls ? '' : null;
}

const NO_TOOLS = wireToolNames([]);
