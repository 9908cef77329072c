import { describe, expect, it } from 'vitest';
import { turns, user } from '../support/messages.js';
import type { TestService } from '../support/service.js';
import { compactionsOf, gate, type Harness, requestsAt, startWithModel } from './session-state.js';

/** Starts a compaction, does something while its model writes, then lets the model answer. */
async function meanwhile<T>(
  id: string,
  { service, stub }: Harness,
  door: ReturnType<typeof gate>,
  action: () => Promise<T>,
) {
  const working = service.compact(id);
  await requestsAt(stub, 1);
  const result = await action();
  door.open();
  return { result, answer: await working };
}

async function heldModel(): Promise<Harness & { door: ReturnType<typeof gate> }> {
  const door = gate();
  const harness = await startWithModel(async () => {
    await door.opened;
    return { content: 'S1' };
  });
  return { ...harness, door };
}

const leaseOf = (service: TestService, id: string) =>
  service.sql('SELECT lease_owner, lease_expires_at FROM sessions WHERE id = ?', id);
const FREE = { lease_owner: null, lease_expires_at: null };

describe('while the summary is written', () => {
  it('a message that comes is stored, is in the next context and is not in the summary', async () => {
    const held = await heldModel();
    const { service, stub, door } = held;
    const id = await service.session(turns(10, 100));

    const { result, answer } = await meanwhile(id, held, door, () =>
      service.call('POST', `/sessions/${id}/messages`, { messages: [user('LATE-5')] }),
    );

    expect(result.status).toBe(201);
    expect(answer.status).toBe(200);
    expect(answer.body.newSize).toBe(5);
    const { body: session } = await service.call('GET', `/sessions/${id}`);
    expect(session).toMatchObject({ message_count: 11, compact_size: 5, compact_summary: 'S1' });
    expect((await service.view(id)).at(-1)).toEqual(user('LATE-5'));
    expect((await service.messages(id)).at(-1)).toEqual(user('LATE-5'));
    expect(stub.prompts.join('').includes('LATE-5')).toBe(false);
    expect(answer.body.compaction).toMatchObject({ chars_before: 1_000, chars_after: 502 });
  });

  it('a session that is deleted stays deleted, and the compaction says so', async () => {
    const held = await heldModel();
    const { service, door } = held;
    const id = await service.session(turns(10, 100));

    const { result, answer } = await meanwhile(id, held, door, () =>
      service.call('DELETE', `/sessions/${id}`),
    );

    expect(result.status).toBe(204);
    expect({ status: answer.status, code: answer.body.code }).toEqual({
      status: 404,
      code: 'SESSION_NOT_FOUND',
    });
    for (const table of ['sessions', 'messages', 'compactions']) {
      expect(service.sql(`SELECT count(*) AS n FROM ${table}`)).toEqual([{ n: 0 }]);
    }
    expect((await service.call('GET', '/readyz')).status).toBe(200);
  });

  it('a session deleted and made anew under its id gets no summary of the old one', async () => {
    const held = await heldModel();
    const { service, door } = held;
    await service.session(turns(10, 100), { id: 'twice' });

    const { answer } = await meanwhile('twice', held, door, async () => {
      await service.call('DELETE', '/sessions/twice');
      await service.session(turns(10, 50), { id: 'twice' });
    });

    expect(answer.body.code).toBe('SESSION_NOT_FOUND');
    expect((await service.call('GET', '/sessions/twice')).body).toMatchObject({
      compact_summary: null,
      compact_size: 0,
      message_count: 10,
    });
    expect(await compactionsOf(service, 'twice')).toEqual([]);
    expect((await service.compact('twice')).body).toMatchObject({ newSize: 5 });
  });

  it('a session that is reset stays empty, and a new compaction of it does not wait', async () => {
    const held = await heldModel();
    const { service, door } = held;
    const id = await service.session(turns(10, 100));

    const { result, answer } = await meanwhile(id, held, door, async () => {
      const reset = await service.call('POST', `/sessions/${id}/reset`);
      await service.call('POST', `/sessions/${id}/messages`, { messages: turns(4, 50) });
      return reset;
    });

    expect(result.status).toBe(200);
    expect({ status: answer.status, code: answer.body.code, retryable: answer.body.retryable }).toEqual({
      status: 409,
      code: 'SESSION_CHANGED',
      retryable: true,
    });
    expect((await service.call('GET', `/sessions/${id}`)).body).toMatchObject({
      compact_summary: null,
      compact_size: 0,
      message_count: 4,
    });
    expect(await compactionsOf(service, id)).toEqual([]);
    expect((await service.compact(id)).body).toMatchObject({ compactedCount: 2, newSize: 2 });
  });

  it('a session that is closed keeps its state, and the cost is on record', async () => {
    const held = await heldModel();
    const { service, door } = held;
    const id = await service.session(turns(10, 100));

    const { answer } = await meanwhile(id, held, door, () => service.call('POST', `/sessions/${id}/close`));

    expect({ status: answer.status, code: answer.body.code }).toEqual({
      status: 400,
      code: 'SESSION_CLOSED',
    });
    expect(await compactionsOf(service, id)).toMatchObject([
      {
        outcome: 'failed',
        error_code: 'SESSION_CLOSED',
        to_size: 0,
        usage: { input_tokens: 100, output_tokens: 10 },
      },
    ]);
    expect(leaseOf(service, id)).toEqual([FREE]);
    const { body: session } = await service.call('POST', `/sessions/${id}/reopen`);
    expect(session).toMatchObject({ compact_summary: null, compact_size: 0, message_count: 10 });
    expect((await service.compact(id)).status).toBe(200);
  });

  it('a title that is changed does not stand in its way', async () => {
    const held = await heldModel();
    const { service, door } = held;
    const id = await service.session(turns(10, 100));

    const { result, answer } = await meanwhile(id, held, door, () =>
      service.call('PATCH', `/sessions/${id}`, { title: 'Trip' }),
    );

    expect(result.status).toBe(200);
    expect(answer.status).toBe(200);
    expect((await service.call('GET', `/sessions/${id}`)).body).toMatchObject({
      title: 'Trip',
      compact_summary: 'S1',
      version: 4,
    });
    expect(leaseOf(service, id)).toEqual([FREE]);
  });

  it('a tool call that gets its result is neither parted from it nor summarized', async () => {
    const held = await heldModel();
    const { service, stub, door } = held;
    const call = { id: 'c9', type: 'function', function: { name: 'ask_approval', arguments: '{}' } };
    const id = await service.session(
      [...turns(4, 100), { role: 'assistant', content: null, tool_calls: [call] }],
      { compactCount: 99 },
    );

    const { answer } = await meanwhile(id, held, door, () =>
      service.call('POST', `/sessions/${id}/messages`, {
        messages: [{ role: 'tool', tool_call_id: 'c9', content: 'approved' }],
      }),
    );

    expect(answer.body).toMatchObject({ compactedCount: 4, newSize: 4 });
    expect(stub.prompts.join('').includes('ask_approval')).toBe(false);
    expect((await service.view(id)).slice(-2)).toEqual([
      { role: 'assistant', content: null, tool_calls: [call] },
      { role: 'tool', tool_call_id: 'c9', content: 'approved' },
    ]);
  });
});
