import { type Answer, field } from './service-target.js';
import type { Fault } from './session-source.js';

/** What a problem document says, as one line. */
export function problemLine(answer: Answer): string {
  const detail = text(field(answer.body, 'detail')) ?? 'no details';
  const code = text(field(answer.body, 'code'));
  return `${detail} (${code === null ? '' : `${code}, `}status ${answer.status})`;
}

/**
 * Where a refused request was wrong, as pointers into the session that it is a part of.
 *
 * @param sent how many of the session's messages were sent by requests before this one
 */
export function problemFaults(answer: Answer, sent: number): Fault[] {
  if (field(answer.body, 'code') === 'SESSION_EXISTS')
    return [{ pointer: '/id', reason: problemLine(answer) }];
  const errors = field(answer.body, 'errors');
  const faults = (Array.isArray(errors) ? errors : []).flatMap((error: unknown) => {
    const pointer = text(field(error, 'pointer'));
    const reason = text(field(error, 'message'));
    return pointer === null || reason === null ? [] : [{ pointer: shifted(pointer, sent), reason }];
  });
  return faults.length > 0 ? faults : [{ pointer: '', reason: problemLine(answer) }];
}

function shifted(pointer: string, sent: number): string {
  return pointer.replace(/^\/messages\/(\d+)/, (_, index: string) => `/messages/${Number(index) + sent}`);
}

function text(value: unknown): string | null {
  return typeof value === 'string' ? value : null;
}
