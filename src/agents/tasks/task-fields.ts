import type { TaskRow } from '../../db/tables.js';
import type { TurnContent, TurnInput } from '../turn/input.js';
import type { OutstandingCall } from '../turn/outstanding-calls.js';

/** The columns of a task that hold JSON, as what they are. */

export function inputOf({ input }: Pick<TaskRow, 'input'>): TurnContent {
  const content: TurnContent = JSON.parse(input);
  return content;
}

/** What a resume brought that is not stored as messages yet; null without any. */
export function resumeInputOf({ resume_input: json }: Pick<TaskRow, 'resume_input'>): TurnInput | null {
  if (json === null) return null;
  const input: TurnInput = JSON.parse(json);
  return input;
}

/** The calls whose results it waits for, in order. */
export function waitCallsOf({ wait_calls: json }: Pick<TaskRow, 'wait_calls'>): readonly OutstandingCall[] {
  if (json === null) return [];
  const calls: OutstandingCall[] = JSON.parse(json);
  return calls;
}
