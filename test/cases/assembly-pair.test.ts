import { describe, expect, it } from 'vitest';
import { assistant, calls, result, system, text, turns, user } from '../support/messages.js';
import { strictViolation } from '../support/strict.js';
import { ACKNOWLEDGED, append, quoted, startWithModel, stateOf, summaryOf } from './expected.js';

describe('the pair that carries the summary', () => {
  it('alternates with what follows when the conversation began with a greeting', async () => {
    const { service } = await startWithModel();
    const greeting = assistant(text(100, 'Welcome aboard '));
    const messages = [greeting, user(100), assistant(100), user(100)];
    const id = await service.session(messages, { compactCount: 25 });

    expect((await service.compact(id)).body.newSize).toBe(1);

    const view = await service.view(id);
    expect(view).toEqual([summaryOf('S1'), ACKNOWLEDGED, ...messages.slice(1)]);
    expect(strictViolation(view)).toBeNull();
    expect((await service.messages(id))[0]).toEqual(greeting);
  });

  it('leaves the acknowledgement to the first open message when that is an answer', async () => {
    const { service } = await startWithModel();
    const messages = [...turns(4, 100), user(100)];
    const id = await service.session(messages, { compactCount: 20 });

    expect((await service.compact(id)).body.newSize).toBe(1);

    const view = await service.view(id);
    expect(view).toEqual([summaryOf('S1'), ...messages.slice(1)]);
    expect(strictViolation(view)).toBeNull();
  });

  it('gives a long tool run its user message, and the summary is written although no user speaks', async () => {
    const { service, stub } = await startWithModel();
    const round = (i: number) => [calls([`c${i}`]), result(`c${i}`, 1_000)];
    const messages = [user(1_000), ...[1, 2, 3, 4, 5, 6].flatMap(round)];
    const id = await service.session(messages);
    const sizes = [(await service.compact(id)).body.newSize];

    const view = await service.view(id);
    expect(view).toEqual([summaryOf('S1'), ...messages.slice(7)]);
    expect(view.at(-1)?.role).toBe('tool');
    expect(strictViolation(view)).toBeNull();

    await append(service, id, ...round(7));
    sizes.push((await service.compact(id)).body.newSize);
    expect(sizes).toEqual([7, 13]);
    expect(stub.prompts).toHaveLength(2);
    expect(quoted(stub.prompts[1], 'transcript')).not.toContain('[user]');
    const later = await service.view(id);
    expect(later).toEqual([summaryOf('S2'), ...round(7)]);
    expect(strictViolation(later)).toBeNull();
  });

  it('is complete before a tool run that a user message follows', async () => {
    const { service } = await startWithModel();
    const messages = [user(100), assistant(100), calls(['c1']), result('c1', 100), user(100)];
    const id = await service.session(messages, { compactCount: 40 });

    expect((await service.compact(id)).body.newSize).toBe(2);

    const view = await service.view(id);
    expect(view).toEqual([summaryOf('S1'), ACKNOWLEDGED, ...messages.slice(2)]);
    expect(strictViolation(view)).toBeNull();
  });

  it('is complete before results that answer no call', async () => {
    const { service } = await startWithModel();
    const messages = [user(100), result('c0', 50), result('c1', 50)];
    const id = await service.session(messages);

    expect((await service.compact(id)).body.newSize).toBe(1);
    expect(await service.view(id)).toEqual([summaryOf('S1'), ACKNOWLEDGED, ...messages.slice(1)]);
  });

  it('is all there is when everything was folded, and the next question follows it', async () => {
    const { service } = await startWithModel();
    const id = await service.session([system('SYS'), ...turns(4, 100)], { compactCount: 99 });

    expect((await service.compact(id)).body.newSize).toBe(4);
    const folded = [system('SYS'), summaryOf('S1'), ACKNOWLEDGED];
    expect(await service.view(id)).toEqual(folded);

    await append(service, id, user('next?'));
    const view = await service.view(id);
    expect(view).toEqual([...folded, user('next?')]);
    expect(strictViolation(view)).toBeNull();
  });
});

describe('a stored summary that says nothing', () => {
  const messages = turns(6, 100);

  it.each(['', ' ', '\n\t\u00a0', null])('counts as none: %j', async (summary) => {
    const { service, stub } = await startWithModel();
    const id = await service.session(messages);
    service.sql('UPDATE sessions SET compact_summary = ?, compact_size = 2 WHERE id = ?', summary, id);

    const { status, body } = await service.call('GET', `/sessions/${id}/context`);
    expect({ ...body, status }).toMatchObject({
      status: 200,
      messages,
      summary_chars: 0,
      tail_count: 6,
      chars: 600,
    });
    await append(service, id, user('next?'));
    expect(strictViolation(await service.view(id))).toBeNull();

    const { body: compacted } = await service.compact(id);
    expect(compacted).toMatchObject({ compactedCount: 4, newSize: 4 });
    expect(compacted.compaction).toMatchObject({ from_size: 0, predecessor_id: null, chars_before: 605 });
    expect(quoted(stub.prompts[0], 'summary')).toBeNull();
    expect(await service.view(id)).toEqual([
      summaryOf('S1'),
      ACKNOWLEDGED,
      ...messages.slice(4),
      user('next?'),
    ]);
  });

  it('leaves a pointer past the end harmless', async () => {
    const { service } = await startWithModel();
    const id = await service.session(messages);
    service.sql('UPDATE sessions SET compact_summary = ?, compact_size = 99 WHERE id = ?', 'OLD', id);
    const before = await stateOf(service, id);

    expect((await service.compact(id)).body).toMatchObject({ compactedCount: 0, reason: 'nothing_new' });
    const { body } = await service.call('GET', `/sessions/${id}/context`);
    expect(body).toMatchObject({
      messages: [summaryOf('OLD'), ACKNOWLEDGED],
      summary_chars: 3,
      tail_count: 0,
    });
    expect(await stateOf(service, id)).toEqual(before);
  });
});
