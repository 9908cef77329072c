import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { type ChatMessage, isSystem, measure } from '../src/compaction/measure.js';
import { planMessages } from '../src/compaction/plan-messages.js';
import { startModelStub } from './support/model-stub.js';
import { modelAt, startService } from './support/service.js';

interface Vector {
  readonly name: string;
  readonly compactCount: number;
  readonly compactSize: number;
  readonly summaryChars: number;
  readonly keepRecent: number;
  readonly messages: readonly ChatMessage[];
  readonly expect: { readonly compactedCount: number; readonly newSize: number; readonly reason?: string };
}

const file = new URL('./data/plan-vectors.json', import.meta.url);
const { cases }: { cases: readonly Vector[] } = JSON.parse(readFileSync(file, 'utf8'));

describe('worked cases of the plan', () => {
  it('are all there', () => {
    expect(cases.length).toBe(96);
  });

  it.each(cases)('$name, as a pure function', (vector) => {
    const conversation = vector.messages.filter(({ role }) => !isSystem(role));
    const open = conversation.slice(vector.compactSize).map((message) => ({
      role: message.role,
      chars: measure(message).chars,
      toolCallCount: message.tool_calls?.length ?? 0,
    }));
    const plan = planMessages(open, {
      from: vector.compactSize,
      summaryChars: vector.summaryChars,
      percent: vector.compactCount,
      keepRecent: vector.keepRecent,
      holdFrom: null,
    });
    const newSize = plan.kind === 'fold' ? plan.cut : vector.compactSize;
    const reason = plan.kind === 'fold' ? undefined : plan.reason;
    expect({ newSize, reason }).toEqual({ newSize: vector.expect.newSize, reason: vector.expect.reason });
  });

  it('hold over HTTP, all of them', { timeout: 60_000 }, async () => {
    const stub = await startModelStub(() => ({ content: 'S' }));
    const service = await startService(modelAt(stub.url));
    const outcomes = [];
    for (const { messages, compactCount, compactSize, summaryChars, keepRecent, name } of cases) {
      const id = await service.session(messages, { compactCount });
      const summary = summaryChars === 0 ? null : 's'.repeat(summaryChars);
      service.sql(
        'UPDATE sessions SET compact_summary = ?, compact_size = ? WHERE id = ?',
        summary,
        compactSize,
        id,
      );
      const before = stub.prompts.length;
      const { body } = await service.compact(id, { keepRecent });
      const { body: session } = await service.call('GET', `/sessions/${id}`);
      const { compactedCount, newSize, reason } = body;
      const folded = compactedCount > 0;
      outcomes.push({ name, compactedCount, newSize, ...(reason ? { reason } : {}) });
      expect({ name, size: session.compact_size }).toEqual({ name, size: newSize });
      expect(body.alreadyUpToDate).toBe(!folded);
      expect(stub.prompts.length > before).toBe(folded);
    }
    expect(outcomes).toEqual(cases.map(({ name, expect: expected }) => ({ name, ...expected })));
  });
});
