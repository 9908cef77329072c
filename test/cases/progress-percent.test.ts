import { describe, expect, it } from 'vitest';
import { assistant, turns, user } from '../support/messages.js';
import { type Answer, type AnyBody, startService } from '../support/service.js';
import { stateOf } from './expected.js';

const BAD = [
  '0',
  '-5',
  '100',
  '101',
  '1e9',
  '0.5',
  '99.5',
  '33.3333333',
  'null',
  'true',
  '"50"',
  '"50%"',
  '"NaN"',
  '""',
];

const refusalOf = ({ status, body }: Answer<AnyBody>) => ({
  status,
  code: body.code,
  fields: body.errors?.map(({ in: part, pointer }) => `${part} ${pointer}`),
});
const refusedField = { status: 400, code: 'VALIDATION_FAILED', fields: ['body /compactCount'] };

describe('a percent that makes no sense', () => {
  it('creates no session, and the answer names the field', async () => {
    const service = await startService();
    const refusals = [];
    for (const value of BAD) {
      const answer = await service.call('POST', '/sessions', `{"id":"s","compactCount":${value}}`);
      refusals.push({ value, ...refusalOf(answer) });
    }
    expect(refusals).toEqual(BAD.map((value) => ({ value, ...refusedField })));
    expect((await service.call('GET', '/sessions')).body.data).toEqual([]);
  });

  it('compacts nothing', async () => {
    const service = await startService();
    const id = await service.session(turns(4, 100), { compactCount: 30 });
    const before = await stateOf(service, id);
    const refusals = [];
    for (const value of BAD) {
      const answer = await service.call('POST', `/sessions/${id}/compact`, `{"compactCount":${value}}`);
      refusals.push({ value, ...refusalOf(answer) });
    }
    expect(refusals).toEqual(BAD.map((value) => ({ value, ...refusedField })));
    expect(await stateOf(service, id)).toEqual(before);
  });

  it('is refused when it is not even JSON', async () => {
    const service = await startService();
    const refusals = [];
    for (const value of ['NaN', 'Infinity', '50%', '050']) {
      const { status, body } = await service.call('POST', '/sessions', `{"compactCount":${value}}`);
      refusals.push(`${status} ${body.code}`);
    }
    expect(refusals).toEqual(Array(4).fill('400 VALIDATION_FAILED'));
    expect((await service.call('GET', '/sessions')).body.data).toEqual([]);
  });

  it.each(['compactCount', 'compact_count'])(
    'cannot come later: %s is no field of a change',
    async (name) => {
      const service = await startService();
      const id = await service.session([], { compactCount: 30 });
      const before = await stateOf(service, id);
      for (const value of [0, 50, '50', null]) {
        const answer = await service.call('PATCH', `/sessions/${id}`, { [name]: value });
        expect(refusalOf(answer)).toEqual({ ...refusedField, fields: [`body /${name}`] });
      }
      expect(await stateOf(service, id)).toEqual(before);
    },
  );
});

describe('a percent with decimals', () => {
  it('is kept as it was given', async () => {
    const service = await startService();
    const kept = [];
    for (const compactCount of [1, 33.5, 33.333333, 99, 1e1]) {
      const { body } = await service.call('POST', '/sessions', { compactCount });
      kept.push((await service.call('GET', `/sessions/${body.id}`)).body.compact_count);
    }
    expect(kept).toEqual([1, 33.5, 33.333333, 99, 10]);
    expect((await service.call('POST', '/sessions', {})).body.compact_count).toBe(50);
  });

  it('cuts at its exact share, the same every time', async () => {
    const service = await startService();
    // 200 chars: 33 % is 66, 33.5 % is 67, 34 % is 68.
    const id = await service.session([user(66), assistant(1), user(1), assistant(132)], {
      compactCount: 33.5,
    });
    const sizes = [];
    for (const body of [{}, {}, { compactCount: 33 }, { compactCount: 34 }, {}]) {
      sizes.push((await service.compact(id, { ...body, dryRun: true })).body.newSize);
    }
    expect(sizes).toEqual([2, 2, 1, 3, 2]);
  });

  it('is that many of 100 chars, not one more or less', async () => {
    const service = await startService();
    const sizes: Record<number, readonly number[]> = {};
    const percents = [7, 14, 28, 29, 55, 56, 57, 58];
    for (const compactCount of percents) {
      const exact = [user(compactCount), assistant(100 - compactCount)];
      const oneShort = [user(compactCount - 1), assistant(1), user(100 - compactCount)];
      const found = [];
      for (const messages of [exact, oneShort]) {
        const id = await service.session(messages, { compactCount });
        found.push((await service.compact(id, { dryRun: true })).body.newSize);
      }
      sizes[compactCount] = found;
    }
    expect(sizes).toEqual(Object.fromEntries(percents.map((percent) => [percent, [1, 2]])));
  });
});
