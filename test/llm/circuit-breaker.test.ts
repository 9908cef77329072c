import { describe, expect, test } from 'vitest';
import { type CallOrigin, CircuitBreaker } from '../../src/llm/circuit-breaker.js';
import type { Outcome } from '../../src/llm/outcome.js';
import { completed } from './harness.js';

const OK: Outcome = { ...completed('x'), kind: 'ok' };
const failed = { message: 'x', status: null };
const DOWN: Outcome = { ...failed, kind: 'unavailable', retryAfterMs: null };
const TIMEOUT: Outcome = { ...failed, kind: 'timeout', clock: 'connect' };
const limited = (retryAfterMs: number | null): Outcome => ({ ...failed, kind: 'rate_limited', retryAfterMs });
const REFUSED: Outcome = { ...failed, kind: 'bad_request', param: null };
const OVERFLOW: Outcome = { ...failed, kind: 'overflow', windowTokens: null, requestedTokens: null };
const plain = (
  kind: 'quota' | 'auth' | 'policy' | 'incomplete' | 'empty' | 'protocol' | 'aborted',
): Outcome => ({
  ...failed,
  kind,
});

/** A breaker that opens after 3 failures for 1,000 ms, on a clock that the test sets. */
function breaker() {
  let now = 5_000;
  const subject = new CircuitBreaker({ failures: 3, openMs: 1_000, clock: () => now });
  const call = (origin: CallOrigin, ...outcomes: readonly Outcome[]): void => {
    for (const outcome of outcomes) {
      const report = subject.enter(origin);
      if (report === null) throw new Error('the call was not let through');
      report(outcome);
    }
  };
  return { subject, call, pass: (ms: number) => (now += ms) };
}

describe('closed', () => {
  test('opens with the third failure in a row, of any of the three kinds', () => {
    const { subject, call } = breaker();
    call('automatic', DOWN, TIMEOUT);
    expect([subject.state, subject.waitMs]).toEqual(['closed', 0]);
    call('automatic', limited(null));
    expect([subject.state, subject.waitMs]).toEqual(['open', 1_000]);
    expect(subject.enter('automatic')).toBeNull();
  });

  test('failures of manual calls count too', () => {
    const { subject, call } = breaker();
    call('manual', DOWN, DOWN, DOWN);
    expect(subject.state).toBe('open');
  });

  test.each([OK, REFUSED, OVERFLOW, plain('quota'), plain('auth'), plain('policy')])(
    'an answer between them ($kind) begins the count anew',
    (answer) => {
      const { subject, call } = breaker();
      call('automatic', DOWN, DOWN, answer, DOWN, DOWN);
      expect(subject.state).toBe('closed');
      call('automatic', DOWN);
      expect(subject.state).toBe('open');
    },
  );

  test.each([plain('aborted'), plain('incomplete'), plain('empty'), plain('protocol')])(
    'what says nothing ($kind) neither counts nor begins anew',
    (silent) => {
      const { subject, call } = breaker();
      call('automatic', DOWN, silent, DOWN, silent, silent);
      expect(subject.state).toBe('closed');
      call('automatic', DOWN);
      expect(subject.state).toBe('open');
    },
  );
});

describe('open', () => {
  test('for its time, or for as long as the endpoint asks if that is longer', () => {
    const short = breaker();
    short.call('automatic', DOWN, DOWN, limited(500));
    expect(short.subject.waitMs).toBe(1_000);
    const long = breaker();
    long.call('automatic', limited(90_000), limited(90_000), limited(3_000));
    expect(long.subject.waitMs).toBe(3_000);
    long.pass(2_999);
    expect(long.subject.enter('automatic')).toBeNull();
    long.pass(1);
    expect(long.subject.enter('automatic')).not.toBeNull();
  });

  test('a manual call always tries; its success closes it at once, its failure prolongs nothing', () => {
    const { subject, call, pass } = breaker();
    call('automatic', DOWN, DOWN, DOWN);
    pass(600);
    call('manual', DOWN, TIMEOUT);
    expect(subject.waitMs).toBe(400);
    expect(subject.enter('automatic')).toBeNull();
    call('manual', OK);
    expect(subject.state).toBe('closed');
    call('automatic', DOWN, DOWN);
    expect(subject.state).toBe('closed');
  });

  test('what was under way when it opened changes it only by an answer', () => {
    const { subject, call, pass } = breaker();
    const [first, second] = [subject.enter('automatic'), subject.enter('automatic')];
    call('automatic', DOWN, DOWN, DOWN);
    pass(300);
    first?.(DOWN);
    expect(subject.waitMs).toBe(700);
    second?.(OK);
    expect(subject.state).toBe('closed');
  });
});

describe('half open', () => {
  function halfOpen() {
    const parts = breaker();
    parts.call('automatic', DOWN, DOWN, DOWN);
    parts.pass(1_000);
    expect(parts.subject.state).toBe('half_open');
    return parts;
  }

  test('one automatic call at a time, and any number of manual ones', () => {
    const { subject, call } = halfOpen();
    const probe = subject.enter('automatic');
    expect(probe).not.toBeNull();
    expect(subject.enter('automatic')).toBeNull();
    call('manual', plain('aborted'));
    expect(subject.enter('automatic')).toBeNull();
    probe?.(OK);
    expect(subject.state).toBe('closed');
    expect(subject.enter('automatic')).not.toBeNull();
    expect(subject.enter('automatic')).not.toBeNull();
  });

  test('one failure opens it for the whole time again', () => {
    const { subject, call, pass } = halfOpen();
    pass(50);
    call('automatic', TIMEOUT);
    expect([subject.state, subject.waitMs]).toEqual(['open', 1_000]);
    pass(1_000);
    call('automatic', REFUSED);
    expect(subject.state).toBe('closed');
  });

  test('a call that says nothing leaves the place to the next one', () => {
    const { subject, call } = halfOpen();
    call('automatic', plain('aborted'), plain('incomplete'));
    expect(subject.state).toBe('half_open');
    expect(subject.enter('automatic')).not.toBeNull();
  });

  test('a call that reports twice counts once', () => {
    const { subject } = halfOpen();
    const first = subject.enter('automatic');
    first?.(plain('aborted'));
    const second = subject.enter('automatic');
    first?.(DOWN);
    expect(subject.state).toBe('half_open');
    expect(subject.enter('automatic')).toBeNull();
    second?.(OK);
    expect(subject.state).toBe('closed');
  });
});
