import { openCalls } from './open-calls.js';
import { callsOf, type WireMessage } from './wire-message.js';

const NO_RESULT = '(no result recorded)';

/**
 * Servers refuse a call that is not answered directly after it. Such a call stays behind when a process dies
 * between call and result, or when the user speaks before the result is there. It gets a result that says
 * that none is known, behind the results that there are, in the order of the calls.
 *
 * With `keepPending`, calls that the list ends with stay open. Results stand behind their calls by now.
 */
export function answerCalls(messages: readonly WireMessage[], keepPending: boolean): readonly WireMessage[] {
  const answered: WireMessage[] = [];
  for (let i = 0; i < messages.length; i += 1) {
    const message = messages[i];
    if (message === undefined) continue;
    answered.push(message);
    if (callsOf(message).length === 0) continue;
    const results: WireMessage[] = [];
    for (let next = messages[i + 1]; next?.role === 'tool'; next = messages[i + 1]) {
      results.push(next);
      i += 1;
    }
    answered.push(...results);
    if (keepPending && i + 1 === messages.length) continue;
    for (const id of openCalls(message, results)) {
      answered.push({ role: 'tool', tool_call_id: id, content: NO_RESULT });
    }
  }
  return answered;
}
