import { describe, expect, it } from 'vitest';
import { databaseFolder, sessionsOf } from './database-folder.js';
import { runCommand, runScript } from './run-command.js';

const IMPORT = 'src/cli/import.ts';
const user = (content: string) => ({ role: 'user', content });
const linesOf = (text: string) => text.trim().split('\n').sort();
const notDigits = (text: string) => text.replace(/; \d+\.\d s/, '; N s');

describe('npm run import', { timeout: 60_000 }, () => {
  it('keeps the good lines of a JSON Lines file and names the bad ones', async (test) => {
    const db = await databaseFolder(test);
    await db.app.inject({ method: 'PUT', url: '/agents/a', payload: {} });
    const file = await db.write(
      'mixed.jsonl',
      [
        `\ufeff${JSON.stringify({ id: 'one', title: 'First', messages: [user('hello'), { role: 'assistant' }] })}`,
        '',
        JSON.stringify({ messages: [user('ok'), { role: 'usr', content: 'x' }] }),
        JSON.stringify({ id: 'one', messages: [user('again')] }),
        '{"id":"broken","messages":[',
        JSON.stringify([user('bare'), { role: 'assistant', content: 'list' }]),
        JSON.stringify(user('a message')),
        JSON.stringify({ id: 'no/slash', messages: [] }),
        JSON.stringify({ agent: 'nobody', messages: [] }),
        JSON.stringify({ id: 'last', compactCount: 25, agent: 'a', metadata: { k: 1 }, messages: [] }),
      ].join('\r\n'),
    );
    const run = await runCommand('npm', ['run', '--silent', 'import', '--', file], {
      env: { DATABASE_URL: db.databaseUrl },
    });
    expect(linesOf(run.stderr)).toEqual([
      'line 3: /messages/1/role must be one of system, developer, user, assistant, tool',
      'line 4: /id There is a session one already (SESSION_EXISTS, status 409)',
      expect.stringMatching(/^line 5: is not valid JSON: /),
      'line 7: /messages is required: this is a message, not a session',
      expect.stringMatching(/^line 8: \/id must match pattern/),
      'line 9: There is no agent nobody (AGENT_NOT_FOUND, status 404)',
    ]);
    expect(notDigits(run.stdout)).toBe('Imported 3 sessions, 4 messages, 13 chars; 6 bad lines; N s\n');
    expect(run.code).toBe(1);
    expect(await sessionsOf(db)).toMatchObject([
      { id: 'last', agent: 'a', compact_count: 25, metadata: { k: 1 }, message_count: 0 },
      { id: 'one', title: 'First', message_count: 2 },
      { id: expect.stringMatching(/^sess_/), message_count: 2 },
    ]);
  });

  it('stores messages word for word', async (test) => {
    const db = await databaseFolder(test);
    const exact = '{"role":"user","content":"caf\\u00e9 \\"x\\"","n":9007199254740993,"o":{"2":1,"1":1e400}}';
    const spaced = exact.replaceAll(',"', ' ,\n  "').replaceAll('":', '" : ');
    const file = await db.write('session.json', `{\n "messages" : [ ${spaced} ],\n "id" : "exact"\n}\n`);
    const run = await runScript(IMPORT, [file], { env: { DATABASE_URL: db.databaseUrl } });
    expect(run.stderr).toBe('');
    expect(run.code).toBe(0);
    expect(await db.read('/sessions/exact/messages')).toContain(`"message":${exact}}`);
  });

  it('sends long sessions to a running service in parts, and takes back what cannot be finished', async (test) => {
    const db = await databaseFolder(test);
    const url = await db.app.listen({ host: '127.0.0.1', port: 0 });
    const many = Array.from({ length: 2_500 }, (_, index) => user(`message ${index}`));
    const spoilt = many.map((message, index) => (index === 1_700 ? { ...message, role: 'bot' } : message));
    const file = await db.write(
      'list.json',
      JSON.stringify([{ id: 'spoilt', messages: spoilt }, 7, { id: 'whole', messages: many }]),
    );
    const run = await runScript(IMPORT, [file, '--url', `${url}/`]);
    expect(linesOf(run.stderr)).toEqual([
      'element 1: /messages/1700/role must be one of system, developer, user, assistant, tool',
      'element 2: must be a session or a list of messages',
    ]);
    expect(run.stdout).toMatch(/^Imported 1 session, 2,500 messages, 28,890 chars; 2 bad lines; /);
    expect(run.code).toBe(1);
    expect(await sessionsOf(db)).toMatchObject([{ id: 'whole', message_count: 2_500 }]);
    const tail = await db.read('/sessions/whole/messages?after=2498');
    expect(tail).toContain('"seq":2499,"position":2499');
    expect(tail).toContain('"message":{"role":"user","content":"message 2499"}');
  });

  it('reads standard input, and splits what is too large for the body limit', async (test) => {
    const db = await databaseFolder(test);
    const messages = Array.from({ length: 100 }, (_, index) => user(`${index} `.padEnd(2_000, 'é')));
    const run = await runScript(IMPORT, ['-'], {
      env: { DATABASE_URL: db.databaseUrl, BODY_LIMIT: '65536' },
      stdin: JSON.stringify(messages, null, 2),
    });
    expect(run.stderr).toBe('');
    expect(run.stdout).toMatch(/^Imported 1 session, 100 messages, 200,000 chars; 0 bad lines; /);
    expect(run.code).toBe(0);
    const [session] = await sessionsOf(db);
    expect(session?.message_count).toBe(100);
    const context = await db.read(`/sessions/${session?.id}/context`);
    expect(context.startsWith(`{"messages":${JSON.stringify(messages)},`)).toBe(true);
  });

  it.each([
    ['a missing file', ['/no/such/file.json'], {}, /^Cannot read \/no\/such\/file\.json: ENOENT/],
    [
      'no service',
      ['package.json', '--url', 'http://127.0.0.1:1'],
      {},
      /^no answer from http:\/\/127\.0\.0\.1:1: /,
    ],
    [
      'a bad setting',
      ['package.json'],
      { BODY_LIMIT: 'x' },
      /^The configuration is not valid:\n {2}BODY_LIMIT: /,
    ],
  ])('exits with 2 on %s', async (_, args, env, message) => {
    const run = await runScript(IMPORT, args, { env });
    expect(run.stderr).toMatch(message);
    expect(run.stdout).toBe('');
    expect(run.code).toBe(2);
  });
});
