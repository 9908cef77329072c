import type { TranscriptMessage } from './parse-transcript.js';

/** The places of a transcript that matter most, as message indexes; -1 where there is none. */
export interface Scene {
  /** The first message of the user, where the conversation begins with this transcript. */
  readonly goal: number;
  /** The last message of user or assistant: where things stand. */
  readonly last: number;
  /** The last message of the user: what is wanted now. */
  readonly request: number;
  readonly messageCount: number;
}

/** `isStart`: nothing was summarized before, so that the first wish of the user is what it is all about. */
export function readScene(messages: readonly TranscriptMessage[], isStart: boolean): Scene {
  const goal = isStart ? messages.findIndex(({ role, text }) => role === 'user' && text !== '') : -1;
  const last = messages.findLastIndex(({ role, text }) => isTalk(role) && text !== '');
  const request = messages.findLastIndex(({ role, text }) => role === 'user' && text !== '');
  return { goal, last, request, messageCount: messages.length };
}

function isTalk(role: TranscriptMessage['role']): boolean {
  return role === 'user' || role === 'assistant' || role === 'unknown';
}
