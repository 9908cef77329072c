import { onTestFinished } from 'vitest';
import { type Finished, runCommand } from '../cli/run-command.js';
import { type RawResponse, type RawServer, rawResponse, startRawServer } from '../support/raw-server.js';

export const KEY = 'sk-doctor-test-0123456789abcdef';
export const MODEL = 'small-model';
export const GOOD_SUMMARY = 'A table for four is booked at the Hafenblick, confirmation HB-20417.';

export type Answer = RawResponse | 'hang';

export interface Endpoint {
  readonly models?: Answer;
  /** The answer to the short chat. */
  readonly chat?: Answer;
  /** The answer to the request for a summary. */
  readonly summary?: Answer;
  /** Answers to other paths. */
  readonly others?: Readonly<Record<string, Answer>>;
}

export const json = (document: object, status = 200): RawResponse => ({
  status,
  body: JSON.stringify(document),
});

export const listOf = (...rows: readonly object[]): RawResponse => json({ object: 'list', data: rows });

/** A reply as an event stream, with usage unless told otherwise. */
export function stream(text: string, { usage = true, finish = 'stop' } = {}): RawResponse {
  const documents = [
    { choices: [{ index: 0, delta: { role: 'assistant', content: text } }] },
    { choices: [{ index: 0, delta: {}, finish_reason: finish }] },
    ...(usage ? [{ choices: [], usage: { prompt_tokens: 312, completion_tokens: 21 } }] : []),
  ];
  const events = documents.map((document) => `data: ${JSON.stringify(document)}\n\n`).join('');
  return { headers: { 'content-type': 'text/event-stream' }, body: `${events}data: [DONE]\n\n` };
}

export const plain = (text: string): RawResponse =>
  json({
    choices: [{ index: 0, message: { role: 'assistant', content: text }, finish_reason: 'stop' }],
    usage: { prompt_tokens: 312, completion_tokens: 21 },
  });

export const refusal = (status: number, message: string): RawResponse =>
  json({ error: { message, type: 'invalid_request_error' } }, status);

export const GOOD: Required<Omit<Endpoint, 'others'>> = {
  models: listOf({ id: MODEL, max_model_len: 32_768 }, { id: 'other-model', max_model_len: 8_192 }),
  chat: stream('ok'),
  summary: stream(GOOD_SUMMARY),
};

/** An endpoint that answers well except where told otherwise; stopped when the test ends. */
export async function startEndpoint(endpoint: Endpoint = {}): Promise<RawServer> {
  const { models, chat, summary } = { ...GOOD, ...endpoint };
  const server = await startRawServer(async (connection, { method, path, body }) => {
    const completion = body.includes('Reply with the word ok.') ? chat : summary;
    const own = method === 'POST' && path === '/v1/chat/completions' ? completion : null;
    const listed = method === 'GET' && path === '/v1/models' ? models : null;
    const answer = own ?? listed ?? endpoint.others?.[`${method} ${path}`] ?? { status: 404 };
    if (answer === 'hang') await connection.closed;
    else connection.write(rawResponse(answer));
  });
  onTestFinished(() => server.stop());
  return server;
}

/** Runs the doctor as a process of its own, compiled: that starts several times faster than the source. */
export function runDoctor(
  env: Readonly<Record<string, string>>,
  args: readonly string[] = [],
): Promise<Finished> {
  return runCommand(process.execPath, ['dist/doctor/doctor.js', ...args], { env });
}

/** Runs the doctor for one endpoint that serves both roles. */
export async function examine(
  endpoint: Endpoint,
  env: Readonly<Record<string, string>> = {},
  args: readonly string[] = [],
): Promise<{ code: number | null; rows: Rows; stdout: string; server: RawServer }> {
  const server = await startEndpoint(endpoint);
  const variables = { OPENAI_BASE_URL: `${server.url}/v1`, OPENAI_API_KEY: KEY, MAIN_MODEL: MODEL };
  const { code, stdout, stderr } = await runDoctor({ ...variables, ...env }, args);
  if (stderr !== '') throw new Error(stderr);
  return { code, rows: tableIn(stdout), stdout, server };
}

/** The table by its first column: result, seen, what to do; times replaced by `TIME`. */
export type Rows = Readonly<Record<string, Row>>;
export type Row = readonly string[];

export function tableIn(stdout: string): Rows {
  const lines = stdout.split('\n');
  const rule = lines.findIndex((line) => /^-+( {2}-+){3}$/.test(line));
  const columns = [...(lines[rule] ?? '').matchAll(/-+/g)].map(({ index, 0: { length } }) => [
    index,
    index + length,
  ]);
  const rows: string[][] = [];
  for (const line of lines.slice(rule + 1)) {
    if (line === '') break;
    const cells = columns.map(([start, end]) => line.slice(start, end).trim());
    if (cells[0] !== '') rows.push(cells);
    else
      rows.at(-1)?.forEach((cell, i, row) => {
        row[i] = `${cell} ${cells[i]}`.trim();
      });
  }
  const withoutTime = (text: string): string => text.replace(/\b\d+(?:\.\d)? m?s\b/, 'TIME');
  return Object.fromEntries(rows.map(([name = '', ...rest]) => [name, rest.map(withoutTime)]));
}
