import { describe, expect, it } from 'vitest';
import { assistant, system, text, turns, user } from '../support/messages.js';
import { modelAt, startService } from '../support/service.js';
import { ACKNOWLEDGED, append, quoted, sessionOf, startWithModel, stateOf, summaryOf } from './expected.js';

/** Six messages behind a system message, four of them folded. */
async function compactedSession() {
  const { service, stub } = await startWithModel();
  const messages = [system('SYS'), user(text(100, 'berth 12 ')), ...turns(6, 100).slice(1)];
  const id = await service.session(messages, { compactCount: 60 });
  expect((await service.compact(id)).body.newSize).toBe(4);
  const { data } = (await service.call('GET', `/sessions/${id}/messages`)).body;
  return { service, stub, id, messages, rows: data.map((row) => row.id) };
}

describe('messages below and above the pointer', () => {
  it.each([
    ['the system message', 0],
    ['a folded message', 2],
    ['the last message', 6],
  ])('cannot be deleted or changed one by one: %s', async (_name, index) => {
    const { service, id, messages, rows } = await compactedSession();
    const before = await stateOf(service, id);
    const changed = { message: user('berth 21'), role: 'user', content: 'berth 21' };

    const answers = [];
    for (const method of ['DELETE', 'PATCH', 'PUT', 'POST'] as const) {
      for (const name of [rows[index], index]) {
        const path = `/sessions/${id}/messages/${name}`;
        const { status, body } = await service.call(method, path, method === 'DELETE' ? undefined : changed);
        answers.push(`${status} ${body.code}`);
      }
    }
    expect(answers).toEqual(Array(8).fill('404 ROUTE_NOT_FOUND'));
    expect(await stateOf(service, id)).toEqual(before);
    expect(await service.view(id)).toEqual([
      messages[0],
      summaryOf('S1'),
      ACKNOWLEDGED,
      ...messages.slice(5),
    ]);
  });

  it('cannot be replaced all at once', async () => {
    const { service, id } = await compactedSession();
    const before = await stateOf(service, id);
    for (const method of ['DELETE', 'PATCH', 'PUT'] as const) {
      const { status } = await service.call(method, `/sessions/${id}/messages`, {
        messages: [user('berth 21')],
      });
      expect(status).toBe(404);
    }
    expect(await stateOf(service, id)).toEqual(before);
  });

  it('cannot be hidden or shown by moving the pointer or writing the summary by hand', async () => {
    const { service, id } = await compactedSession();
    const before = await stateOf(service, id);
    for (const change of [
      { compact_size: 1 },
      { compact_summary: 'mine' },
      { compact_summary: null, title: 'x' },
    ]) {
      const { status } = await service.call('PATCH', `/sessions/${id}`, change);
      expect(status).toBe(400);
    }
    expect(await stateOf(service, id)).toEqual(before);
  });

  it('stay where they are when messages of any role are appended', async () => {
    const { service, id, messages } = await compactedSession();
    await append(service, id, system('SYS-2'), user('next?'), { role: 'developer', content: 'DEV' });

    expect(await sessionOf(service, id)).toMatchObject({
      compact_size: 4,
      compact_summary: 'S1',
      message_count: 10,
    });
    expect((await service.view(id)).map(({ content }) => content)).toEqual(
      [
        messages[0],
        system('SYS-2'),
        system('DEV'),
        summaryOf('S1'),
        ACKNOWLEDGED,
        ...messages.slice(5),
        user('next?'),
      ].map((message) => message?.content),
    );
  });

  it('are found again after a restart', async () => {
    const { service, stub, id } = await compactedSession();
    const { text: view } = await service.call('GET', `/sessions/${id}/context`);
    const before = await stateOf(service, id);
    await service.close();
    const again = await startService(modelAt(stub.url), service.file);

    expect(await stateOf(again, id)).toEqual(before);
    expect((await again.call('GET', `/sessions/${id}/context`)).text).toBe(view);
    await append(again, id, user(100));
    expect((await again.compact(id)).body).toMatchObject({ compactedCount: 2, newSize: 6 });
    expect(quoted(stub.prompts[1], 'summary')).toBe('S1');
  });

  it('stay where they are when the session is closed and reopened', async () => {
    const { service, stub, id } = await compactedSession();
    const view = await service.view(id);
    await service.call('POST', `/sessions/${id}/close`);
    expect(await service.view(id)).toEqual(view);
    const refused = [await service.compact(id), await service.compact(id, { dryRun: true })];
    expect(refused.map(({ status, body }) => `${status} ${body.code}`)).toEqual(
      Array(2).fill('400 SESSION_CLOSED'),
    );
    await service.call('POST', `/sessions/${id}/reopen`);
    expect(await service.view(id)).toEqual(view);
    expect((await service.compact(id)).body.newSize).toBe(6);
    expect(stub.prompts).toHaveLength(2);
  });
});

describe('the records of compactions', () => {
  it('keep every summary and where it reached, each naming the one it went on from', async () => {
    const { service } = await startWithModel();
    const id = await service.session(turns(12, 100));
    await service.compact(id, { compactCount: 33 });
    await service.compact(id, { compactCount: 49 });

    const { data } = (await service.call('GET', `/sessions/${id}/compactions`)).body;
    expect(data).toMatchObject([
      { summary: 'S2', from_size: 4, to_size: 8, predecessor_id: data[1]?.id, outcome: 'completed' },
      { summary: 'S1', from_size: 0, to_size: 4, predecessor_id: null, outcome: 'completed' },
    ]);
    expect(await service.messages(id)).toEqual(turns(12, 100));
    await append(service, id, user(100), assistant(100));
    expect((await service.call('GET', `/sessions/${id}/compactions`)).body.data).toEqual(data);
  });

  it('begin a new chain when the summary was emptied from outside', async () => {
    const { service, stub } = await startWithModel();
    const id = await service.session(turns(12, 100));
    await service.compact(id);
    service.sql('UPDATE sessions SET compact_summary = ? WHERE id = ?', ' ', id);

    const { body } = await service.compact(id);
    expect(body.compaction).toMatchObject({ predecessor_id: null, from_size: 0, to_size: 6 });
    expect(quoted(stub.prompts[1], 'summary')).toBeNull();
  });
});
