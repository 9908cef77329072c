import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { expect, it } from 'vitest';
import { turns } from '../support/messages.js';
import { startModelStub } from '../support/model-stub.js';
import { startProcess } from '../support/process.js';
import { temporaryFolder } from '../support/service.js';

const LEASE_MS = 3_000;

it.each([
  ['while its model writes', { isAnswered: false }],
  ['with the reply on its way', { isAnswered: true }],
])(
  'a node that is stopped for longer than its lease %s commits nothing when it goes on',
  { timeout: 60_000 },
  async (_, { isAnswered }) => {
    const release: { first: () => void } = { first: () => {} };
    const stub = await startModelStub(async (_prompt, index) => {
      if (index > 0) return { content: 'The second node wrote this.' };
      await new Promise<void>((resolve) => {
        release.first = resolve;
      });
      return { content: 'The first node wrote this.' };
    });
    const variables = {
      DATABASE_URL: `file:${join(temporaryFolder(), 'compactd.db')}`,
      OPENAI_BASE_URL: stub.url,
      COMPACT_MODEL: 'stub-1',
      WINDOW_DISCOVERY: 'off',
      COMPACTION_LEASE_MS: String(LEASE_MS),
    };
    const first = await startProcess(variables);
    const second = await startProcess(variables);
    const messages = turns(10, 100);
    await first.call('POST', '/sessions', { id: 's', messages });
    const paused = first.call('POST', '/sessions/s/compact');
    while (stub.prompts.length === 0) await sleep(5);

    first.child.kill('SIGSTOP');
    // The reply waits in its socket: it is the first thing that the node sees when it goes on.
    if (isAnswered) release.first();
    expect((await second.call('POST', '/sessions/s/compact')).body.code).toBe('COMPACTION_IN_PROGRESS');
    await sleep(LEASE_MS + 200);
    const compacted = await second.call('POST', '/sessions/s/compact');
    expect([compacted.status, compacted.body.newSize]).toEqual([200, 5]);
    const left = (await second.call('GET', '/sessions/s')).body;
    expect(left.compact_summary).toBe('The second node wrote this.');

    first.child.kill('SIGCONT');
    release.first();
    const refused = await paused;
    expect([refused.status, refused.body.code, refused.body.retryable]).toEqual([
      409,
      'SESSION_CHANGED',
      true,
    ]);
    expect(refused.body.compaction).toMatchObject({ outcome: 'failed', to_size: 0 });
    for (const node of [first, second]) {
      expect((await node.call('GET', '/sessions/s')).body).toEqual(left);
      const { data } = (await node.call('GET', '/sessions/s/compactions')).body;
      expect(data.map(({ outcome, error_code }) => [outcome, error_code])).toEqual([
        ['completed', null],
        ['failed', 'SESSION_CHANGED'],
      ]);
    }
    // It is as good as any other node.
    expect((await first.call('POST', '/sessions/s/compact')).body).toMatchObject({ compactedCount: 3 });
    expect((await first.end('SIGTERM')).code).toBe(0);
  },
);
