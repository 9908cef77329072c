import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { type ChatMessage, isSystem, measure } from '../../src/compaction/measure.js';
import { shareOf } from '../../src/compaction/percent.js';
import type { HoldReason } from '../../src/compaction/plan.js';
import { type PlanOptions, planMessages } from '../../src/compaction/plan-messages.js';
import { anyConversation } from './conversations.js';

interface Open {
  readonly role: ChatMessage['role'];
  readonly chars: number;
  readonly toolCallCount: number;
}

const opened = anyConversation.map((messages): Open[] =>
  messages
    .filter(({ role }) => !isSystem(role))
    .map((message) => ({
      role: message.role,
      chars: measure(message).chars,
      toolCallCount: message.tool_calls?.length ?? 0,
    })),
);

const hold = fc.option(
  fc.record({
    position: fc.nat({ max: 45 }),
    reason: fc.constantFrom<HoldReason>('turn_open', 'pending_tool_calls'),
  }),
  { freq: 4 },
);

const options: fc.Arbitrary<PlanOptions> = fc.record({
  from: fc.nat({ max: 5 }),
  summaryChars: fc.nat({ max: 500 }),
  percent: fc.integer({ min: 1, max: 99 }),
  keepRecent: fc.constantFrom(0, 0, 0, 1, 3, 10),
  holdFrom: hold,
});

/** Whether the open list may be cut before index `cut`. */
function partsGroup(open: readonly Open[], cut: number): boolean {
  let head = cut;
  while (open[head]?.role === 'tool') head -= 1;
  return head < cut && head >= 0 && (open[head]?.toolCallCount ?? 0) > 0;
}

/** Index of the last group when its calls are not all answered and nothing but results follows it. */
function pendingStart(open: readonly Open[]): number | null {
  let head = open.length - 1;
  while (open[head]?.role === 'tool') head -= 1;
  const callCount = open[head]?.toolCallCount ?? 0;
  return callCount > open.length - 1 - head ? head : null;
}

const chars = (messages: readonly Open[]) => messages.reduce((sum, message) => sum + message.chars, 0);

describe('the plan', () => {
  it('never parts a tool call from its results, and only ever moves forward', () => {
    fc.assert(
      fc.property(opened, options, (open, request) => {
        const plan = planMessages(open, request);
        if (plan.kind === 'up_to_date') return;
        const cut = plan.cut - request.from;
        expect(cut).toBeGreaterThan(0);
        expect(cut).toBeLessThanOrEqual(open.length);
        expect(partsGroup(open, cut)).toBe(false);
        expect(plan.chars).toBe(chars(open.slice(0, cut)));
        expect(plan.chars).toBeGreaterThan(0);
      }),
      { numRuns: 2_000 },
    );
  });

  it('reaches its target unless a rule kept something out or the messages ran out', () => {
    fc.assert(
      fc.property(opened, options, (open, request) => {
        const plan = planMessages(open, request);
        if (plan.kind === 'up_to_date') return;
        const cut = plan.cut - request.from;
        const heldOut =
          (pendingStart(open) ?? open.length) === cut ||
          (request.holdFrom !== null &&
            cut <= request.holdFrom.position - request.from &&
            plan.chars < plan.target) ||
          (request.keepRecent > 0 && cut <= open.length - request.keepRecent);
        expect(plan.chars >= plan.target || heldOut || cut === open.length).toBe(true);
      }),
      { numRuns: 2_000 },
    );
  });

  it('cuts no later than it must', () => {
    fc.assert(
      fc.property(opened, options, (open, request) => {
        const plan = planMessages(open, request);
        if (plan.kind === 'up_to_date') return;
        // The safe cut before this one does not reach the target.
        let earlier = plan.cut - request.from - 1;
        while (earlier > 0 && partsGroup(open, earlier)) earlier -= 1;
        expect(chars(open.slice(0, earlier))).toBeLessThan(plan.target);
      }),
      { numRuns: 2_000 },
    );
  });

  it('keeps out what is pending, held and recent', () => {
    fc.assert(
      fc.property(opened, options, (open, request) => {
        const plan = planMessages(open, request);
        if (plan.kind === 'up_to_date') return;
        const cut = plan.cut - request.from;
        expect(cut).toBeLessThanOrEqual(pendingStart(open) ?? open.length);
        expect(cut).toBeLessThanOrEqual(open.length - request.keepRecent);
        if (request.holdFrom !== null) expect(plan.cut).toBeLessThanOrEqual(request.holdFrom.position);
      }),
      { numRuns: 2_000 },
    );
  });

  it('does nothing only for a reason that holds', () => {
    fc.assert(
      fc.property(opened, options, (open, request) => {
        const plan = planMessages(open, request);
        if (plan.kind === 'fold') return;
        const total = request.summaryChars + chars(open);
        switch (plan.reason) {
          case 'nothing_new':
            expect(open.length === 0 || shareOf(total, request.percent) === 0).toBe(true);
            break;
          case 'empty_text':
            expect(open.some((message) => message.chars === 0)).toBe(true);
            break;
          case 'pending_tool_calls':
            expect(pendingStart(open) === 0 || request.holdFrom !== null).toBe(true);
            break;
          case 'turn_open':
            expect(request.holdFrom).not.toBeNull();
            break;
          case 'kept_recent':
            expect(request.keepRecent).toBeGreaterThan(0);
        }
      }),
      { numRuns: 2_000 },
    );
  });

  it('repeated, grows until it is up to date, and then stays', () => {
    fc.assert(
      fc.property(opened, fc.integer({ min: 1, max: 99 }), (open, percent) => {
        let from = 0;
        let summaryChars = 0;
        for (let round = 0; ; round += 1) {
          const plan = planMessages(open.slice(from), {
            from,
            summaryChars,
            percent,
            keepRecent: 0,
            holdFrom: null,
          });
          if (plan.kind === 'up_to_date') break;
          expect(plan.cut).toBeGreaterThan(from);
          from = plan.cut;
          summaryChars = 20;
          expect(round).toBeLessThan(open.length);
        }
      }),
    );
  });

  it('holds out an open turn, and names the first rule that left nothing', () => {
    const open: Open[] = [
      { role: 'user', chars: 10, toolCallCount: 0 },
      { role: 'assistant', chars: 0, toolCallCount: 1 },
      { role: 'tool', chars: 10, toolCallCount: 0 },
      { role: 'assistant', chars: 10, toolCallCount: 0 },
    ];
    const request = { from: 7, summaryChars: 0, percent: 99, keepRecent: 0 };
    const at = (position: number, reason: HoldReason) =>
      planMessages(open, { ...request, holdFrom: { position, reason } });
    expect(at(8, 'turn_open')).toEqual({ kind: 'fold', cut: 8, chars: 10, target: 29 });
    expect(at(9, 'turn_open')).toEqual({ kind: 'fold', cut: 8, chars: 10, target: 29 });
    expect(at(7, 'turn_open')).toEqual({ kind: 'up_to_date', reason: 'turn_open' });
    expect(at(7, 'pending_tool_calls')).toEqual({ kind: 'up_to_date', reason: 'pending_tool_calls' });
    expect(
      planMessages(open, { ...request, keepRecent: 4, holdFrom: { position: 8, reason: 'turn_open' } }),
    ).toEqual({
      kind: 'up_to_date',
      reason: 'kept_recent',
    });
  });
});
