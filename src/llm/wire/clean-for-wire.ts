import { answerCalls } from './answer-calls.js';
import { bridgeToolToUser } from './bridge-tool-to-user.js';
import { callArguments } from './call-arguments.js';
import { callType } from './call-type.js';
import { dropEmpty } from './drop-empty.js';
import { emptyParts } from './empty-parts.js';
import { fillEmpty } from './fill-empty.js';
import { firstUser } from './first-user.js';
import { mergeTurns } from './merge-turns.js';
import type { WireOptions } from './options.js';
import { ownFields } from './own-fields.js';
import { placeResults } from './place-results.js';
import { refusalText } from './refusal-text.js';
import { shortCallIds } from './short-call-ids.js';
import { singleSystem } from './single-system.js';
import { stringContent } from './string-content.js';
import { dropName, stripReasoning } from './strip-fields.js';
import { systemRole } from './system-role.js';
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
  let list: readonly WireMessage[] = messages.map((message) => cleanMessage(message, options));
  if (options.singleSystem) list = singleSystem(list);
  list = placeResults(list);
  list = dropEmpty(list);
  list = answerCalls(list, options.pendingCalls === 'keep');
  if (alternate) list = mergeTurns(list);
  if (alternate || options.bridgeToolToUser) list = bridgeToolToUser(list);
  if (alternate || options.firstUser) list = firstUser(list);
  if (options.shortCallIds) list = shortCallIds(list);
  return [...list];
}

/** What can be told from a message alone: its fields first, then its content, which some of them become. */
function cleanMessage(stored: StoredMessage, options: WireOptions): WireMessage {
  let message = callArguments(wellFormed(stored));
  if (!options.keepDeveloper) message = systemRole(message);
  message = ownFields(message);
  message = callType(message);
  message = refusalText(message);
  if (options.dropName) message = dropName(message);
  if (options.stripReasoning) message = stripReasoning(message);
  message = emptyParts(message);
  if (options.stringContent) message = stringContent(message);
  return fillEmpty(message, options.emptyStringWithCalls === true);
}
