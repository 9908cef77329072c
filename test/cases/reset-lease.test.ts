import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import { turns } from '../support/messages.js';
import { startModelStub } from '../support/model-stub.js';
import { modelAt, startService } from '../support/service.js';

describe('a reset during a compaction', () => {
  it('frees the session: it can be filled and compacted while the old work still waits', async () => {
    const stub = await startModelStub((_, index) =>
      index === 0 ? { content: 'OLD-8', delayMs: 800 } : { content: 'NEW' },
    );
    const service = await startService(modelAt(stub.url));
    const id = await service.session(turns(10, 100));
    const old = service.compact(id);
    while (stub.prompts.length === 0) await sleep(5);
    await service.call('POST', `/sessions/${id}/reset`);
    await service.call('POST', `/sessions/${id}/messages`, { messages: turns(4, 100) });
    expect((await service.compact(id)).body).toMatchObject({
      newSize: 2,
      session: { compact_summary: 'NEW' },
    });
    expect((await old).body.code).toBe('SESSION_CHANGED');
    expect((await service.call('GET', `/sessions/${id}`)).body).toMatchObject({
      compact_summary: 'NEW',
      compact_size: 2,
    });
  });
});
