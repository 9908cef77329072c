import { parentPort } from 'node:worker_threads';
import pg from 'pg';

// Plain JavaScript: it runs in a thread of its own, where nothing compiles TypeScript.
const NUMBERS = [pg.types.builtins.INT8, pg.types.builtins.NUMERIC];
const types = {
  getTypeParser: (oid, format) => (NUMBERS.includes(oid) ? Number : pg.types.getTypeParser(oid, format)),
};

parentPort.on('message', async ({ url, text, values, done, port }) => {
  const client = new pg.Client({ connectionString: url });
  let answer;
  try {
    await client.connect();
    answer = { rows: (await client.query({ text, values, types })).rows };
  } catch (error) {
    answer = { error: String(error) };
  }
  await client.end().catch(() => {});
  port.postMessage(answer);
  Atomics.store(done, 0, 1);
  Atomics.notify(done, 0);
});
