import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { turns } from '../support/messages.js';
import { type StubReply, startModelStub } from '../support/model-stub.js';
import { startProcess } from '../support/process.js';
import { modelAt, temporaryFolder } from '../support/service.js';
import { sqlAt } from '../support/sql.js';
import { databaseUrlOf, TESTED_STORE } from '../support/tested-store.js';

const KEY = 'live+key/SECRET-9';
const HEADER = 'gateway SECRET-9';

/** The forms in which a text may be echoed. */
const FORMS: readonly ((text: string) => string)[] = [
  (text) => text,
  encodeURIComponent,
  (text) => Buffer.from(text).toString('base64'),
  (text) => Buffer.from(`user:${text}`).toString('base64'),
];
const FORMS_OF_BOTH = [KEY, HEADER].flatMap((secret) => FORMS.map((form) => form(secret)));

/** Ways in which an endpoint gives back what it was sent. */
const ECHOES: readonly StubReply[] = [
  { status: 401, body: { error: { message: `Incorrect API key provided: ${KEY}, with ${HEADER}` } } },
  {
    status: 401,
    body: `<html><body>Authorization: Bearer ${KEY} ${HEADER}</body></html>`,
    headers: { 'content-type': 'text/html' },
  },
  { status: 400, body: { detail: [{ loc: ['header', KEY], msg: `bad ${HEADER}` }] } },
  { status: 308, body: '', headers: { location: `http://127.0.0.1:1/?key=${KEY}&h=${HEADER}` } },
  { body: { error: { message: `Bearer ${KEY}`, metadata: { raw: `{"error":{"message":"${HEADER}"}}` } } } },
  { status: 500, body: { error: { message: `x-gateway-key: ${HEADER}`, type: KEY, code: KEY } } },
  { content: null, message: { refusal: `I will not use ${KEY} or ${HEADER}` } },
  { status: 400, body: { error: { message: FORMS_OF_BOTH.join(' ') } } },
  {
    content: `The key is ${KEY}, the header ${HEADER}, or live+key/SEC\0RET-9.`,
    message: { reasoning_content: KEY },
  },
];

/** Every row of a PostgreSQL database, as text. */
function rowsOf(url: string): string {
  const tables = sqlAt(url, "SELECT tablename AS name FROM pg_tables WHERE schemaname = 'public' ORDER BY 1");
  const rows = tables
    .map((table) => String(Object.values(table ?? {})[0]))
    .map((name) => JSON.stringify(sqlAt(url, `SELECT t::text FROM ${name} t`)));
  // That the summary is found says that the search can find what is there.
  expect(rows.join('\n')).toContain('The key is [REDACTED]');
  return rows.join('\n');
}

describe('the key of an endpoint that gives it back', { timeout: 60_000 }, () => {
  it('is in no log line, answer, or byte of the database', async () => {
    const stub = await startModelStub((_, index) => ECHOES[index] ?? { content: 'S' });
    const folder = temporaryFolder();
    const file = join(folder, 'compactd.db');
    const variables = modelAt(stub.url, {
      DATABASE_URL: `file:${file}`,
      OPENAI_API_KEY: KEY,
      MAIN_EXTRA_HEADERS: JSON.stringify({ 'x-gateway-key': HEADER }),
      LOG_LEVEL: 'trace',
      WINDOW_DISCOVERY: 'on',
    });
    const service = await startProcess(
      Object.fromEntries(Object.entries(variables).map(([name, value]) => [name, value ?? ''])),
    );
    await service.call('POST', '/sessions', { id: 's', messages: turns(10, 100) });
    const answers: unknown[] = [];
    for (let i = 0; i < ECHOES.length; i += 1)
      answers.push((await service.call('POST', '/sessions/s/compact')).body);
    for (const path of ['', '/compactions', '/context', '/messages']) {
      answers.push((await service.call('GET', `/sessions/s${path}`)).body);
    }
    answers.push((await service.call('GET', '/openapi.json')).body);
    expect(
      stub.server.requests.some(
        ({ headers }) => headers['authorization'] === `Bearer ${KEY}` && headers['x-gateway-key'] === HEADER,
      ),
    ).toBe(true);
    expect(stub.prompts.length).toBe(ECHOES.length);
    expect((await service.call('GET', '/sessions/s')).body.compact_summary).toBe(
      'The key is [REDACTED], the header [REDACTED], or [REDACTED].',
    );
    await service.end('SIGTERM');

    expect(service.log()).toContain('compaction failed');
    const places = {
      log: service.log(),
      answers: JSON.stringify(answers),
      database: TESTED_STORE === 'sqlite' ? readFileSync(file, 'latin1') : rowsOf(await databaseUrlOf(file)),
    };
    for (const [place, text] of Object.entries(places)) {
      for (const secret of ['SECRET-9', ...FORMS_OF_BOTH])
        expect([place, secret, text.includes(secret)]).toEqual([place, secret, false]);
    }
  });
});
