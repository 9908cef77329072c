import type { ChatMessage } from './measure.js';
import {
  type Plan,
  type PlanAnswer,
  type PlanInput,
  type PlanQuestion,
  planRules,
  type ToolGroup,
} from './plan.js';

/** What the plan needs to know of one open conversation message. */
export interface OpenMessage {
  readonly role: ChatMessage['role'];
  readonly chars: number;
  readonly toolCallCount: number;
}

export type PlanOptions = Pick<PlanInput, 'from' | 'summaryChars' | 'percent' | 'keepRecent' | 'holdFrom'>;

/** The plan over open messages in memory, oldest first; `from` is the position of the first of them. */
export function planMessages(open: readonly OpenMessage[], options: PlanOptions): Plan {
  const { from } = options;
  const answer = (question: PlanQuestion): PlanAnswer => {
    switch (question.ask) {
      case 'crossing': {
        let sum = 0;
        const index = open.findIndex((message) => {
          sum += message.chars;
          return sum >= question.chars;
        });
        return from + index;
      }
      case 'group':
        return groupAt(open, question.position - from, from);
      case 'chars':
        return charsOf(open.slice(0, question.before - from));
    }
  };
  const rules = planRules({ ...options, count: from + open.length, openChars: charsOf(open) });
  let step = rules.next();
  while (!step.done) step = rules.next(answer(step.value));
  return step.value;
}

const charsOf = (messages: readonly OpenMessage[]) =>
  messages.reduce((sum, message) => sum + message.chars, 0);

function groupAt(open: readonly OpenMessage[], index: number, from: number): ToolGroup | null {
  let start = index;
  while (open[start]?.role === 'tool') start -= 1;
  const head = open[start];
  if (head === undefined || head.toolCallCount === 0) return null;
  let end = start + 1;
  while (open[end]?.role === 'tool') end += 1;
  return { start: from + start, end: from + end, calls: head.toolCallCount };
}
