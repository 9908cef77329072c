import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { sharedService } from '../support/service.js';

/** Whatever is sent, the answer is a success or a problem of the caller's: never a fault of the service. */
describe('arbitrary requests', { timeout: 120_000 }, () => {
  const shared = sharedService({ LOG_LEVEL: 'silent' });

  const nasty = fc.constantFrom<unknown>(
    null,
    true,
    0,
    -1,
    1e308,
    2 ** 60,
    0.1,
    '',
    '\ud800',
    'a\0b',
    '../../etc/passwd',
    "'; DROP TABLE sessions; --",
    '%00',
    '{{7*7}}',
    '\u202e',
    '🧨'.repeat(50),
    [],
    {},
    [[]],
    { __proto__: null },
    'x'.repeat(10_000),
    '1e400',
    '50%',
  );
  const value = fc.oneof(
    { weight: 3, arbitrary: nasty },
    { weight: 1, arbitrary: fc.jsonValue({ maxDepth: 3 }) },
  );
  const message = fc.oneof(
    value,
    fc.record(
      {
        role: fc.oneof(fc.constantFrom('system', 'developer', 'user', 'assistant', 'tool'), value),
        content: fc.oneof(
          fc.string({ unit: 'binary' }),
          fc.array(fc.record({ type: fc.oneof(fc.constant('text'), value), text: value })),
          value,
        ),
        tool_calls: fc.oneof(
          fc.array(fc.record({ id: value, function: fc.record({ name: value, arguments: value }) }), {
            maxLength: 3,
          }),
          value,
        ),
        tool_call_id: value,
        name: value,
        refusal: value,
      },
      { requiredKeys: [] },
    ),
  );
  const definition = {
    name: fc.oneof(fc.constantFrom('a', 'b'), value),
    systemPrompt: fc.oneof(fc.string({ unit: 'binary' }), value),
    tools: fc.oneof(
      fc.array(
        fc.record({ type: fc.constant('function'), function: fc.record({ name: value, parameters: value }) }),
      ),
      value,
    ),
    subagents: fc.oneof(fc.array(fc.constantFrom('a', 'b', 'c')), value),
    daemon: fc.oneof(fc.record({ prompt: value, everySeconds: value }), value),
    defaultCompaction: fc.oneof(fc.record({ compactionCount: value, auto: value }), value),
  };
  const body = fc.oneof(
    value,
    fc.record(definition, { requiredKeys: [] }),
    fc.record(
      {
        id: fc.oneof(fc.constantFrom('a', 'b'), value),
        agent: value,
        title: value,
        metadata: value,
        compactCount: fc.oneof(fc.integer({ min: 1, max: 99 }), value),
        messages: fc.oneof(fc.array(message, { maxLength: 5 }), value),
        instructions: value,
        keepRecent: value,
        dryRun: value,
        model: value,
        ...definition,
      },
      { requiredKeys: [] },
    ),
  );
  const nested = fc
    .integer({ min: 1, max: 3_000 })
    .map((depth) => `{"messages":[${'[{"a":'.repeat(depth)}1${'}]'.repeat(depth)}]}`);
  const text = fc.oneof(
    { weight: 8, arbitrary: body.map((each) => JSON.stringify(each) ?? '') },
    { weight: 1, arbitrary: nested },
    { weight: 1, arbitrary: fc.string({ unit: 'binary' }) },
  );
  const id = fc.oneof(
    fc.constantFrom(
      'a',
      'b',
      'a',
      'b',
      '..',
      '.',
      '%2e%2e%2f',
      '%00',
      '%ff',
      "a'--",
      'a%20or%201=1',
      'A'.repeat(300),
      '*',
      '%F0%9F%A7%A8',
    ),
    fc.string().map(encodeURIComponent),
  );
  const tail = fc.constantFrom(
    '',
    '/messages',
    '/context',
    '/compact',
    '/compactions',
    '/close',
    '/reopen',
    '/reset',
    '/nope',
  );
  const query = fc.oneof(
    fc.constant(''),
    fc
      .tuple(
        fc.constantFrom('limit', 'cursor', 'after', 'before', 'order', 'form', 'agent', 'status', 'x'),
        fc.oneof(
          fc.string(),
          fc.integer().map(String),
          fc.constantFrom('1e9', '-0', 'NaN', '9007199254740993', 'WzFd'),
        ),
      )
      .map(([name, each]) => `?${name}=${encodeURIComponent(each)}`),
  );
  const path = fc.oneof(
    { weight: 1, arbitrary: fc.constant('/sessions') },
    {
      weight: 2,
      arbitrary: fc
        .oneof(
          fc.constant(''),
          id.map((each) => `/${each}`),
        )
        .map((end) => `/agents${end}`),
    },
    { weight: 5, arbitrary: fc.tuple(id, tail).map(([each, end]) => `/sessions/${each}${end}`) },
  );
  const method = fc.constantFrom('GET', 'POST', 'PATCH', 'DELETE', 'PUT', 'POST', 'POST');
  const header = fc.constantFrom(
    {},
    {},
    { 'if-match': '"1"' },
    { 'if-match': '💥' },
    { 'if-match': `"${'9'.repeat(400)}"` },
    { 'content-type': 'text/xml' },
  );

  it('are never answered with a 5xx, and every refusal is problem details', async () => {
    const service = await shared();
    await fc.assert(
      fc.asyncProperty(method, path, query, text, header, async (verb, where, search, sent, headers) => {
        const sendsBody = verb !== 'GET';
        const answer = await service.call(verb, `${where}${search}`, sendsBody ? sent : undefined, headers);
        expect({
          status: answer.status,
          ok: answer.status < 500,
          body: answer.status < 500 ? '' : answer.text,
        }).toMatchObject({ ok: true, body: '' });
        if (answer.status < 400) return;
        expect(String(answer.headers['content-type'])).toContain('application/problem+json');
        if (answer.body.code === 'VALIDATION_FAILED') expect(answer.body.errors.length).toBeGreaterThan(0);
      }),
      { numRuns: 3_000 },
    );
  });
});
