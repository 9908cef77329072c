import type { ClockName } from './clocks.js';
import type { Failure } from './outcome.js';

/** What ended an attempt from this side. */
export type Stop = { readonly by: 'caller' } | { readonly by: 'clock'; readonly clock: ClockName };

const WAITED_FOR: Readonly<Record<ClockName, string>> = {
  connect: 'could not be connected to in time',
  first_byte: 'did not begin to answer in time',
  silence: 'fell silent in the middle of its answer',
  total: 'did not finish its answer in time',
};

/** `status` is that of the answer, if one had begun. */
export function stopFailure(stop: Stop, status: number | null): Failure {
  if (stop.by === 'caller') return { kind: 'aborted', message: 'The call was cancelled', status };
  const message = `The model endpoint ${WAITED_FOR[stop.clock]}`;
  return { kind: 'timeout', clock: stop.clock, message, status };
}
