import { expect, test } from 'vitest';
import { rawResponse } from '../support/raw-server.js';
import { ask, clientFor, serve } from './harness.js';

const KEY = 'Zq7Xw9Kp3TbNv5Rm8Ld2Hs';

test.each([
  ['is no chat completion', 200, 'text/plain', `${'Q'.repeat(188)}${KEY}`],
  ['has blanks before it', 200, 'text/plain', `Q${' '.repeat(192)}${KEY}`],
  ['has tags before it', 200, 'text/html', `<p>${'<b></b>'.repeat(1_168)}A${KEY}</p>`],
  ['is an error with blanks before it', 500, 'text/plain', `Q${' '.repeat(8_181)}${KEY}`],
  ['is larger than what is read of an error', 500, 'text/plain', `Q${' '.repeat(65_525)}${KEY}`],
  ['is an error in JSON', 400, 'application/json', JSON.stringify({ error: `Q${' '.repeat(8_181)}${KEY}` })],
  [
    'is an event that is no JSON',
    200,
    'text/event-stream',
    `data: ${'Q'.repeat(188)}${KEY}\n\ndata: [DONE]\n\n`,
  ],
])('an answer that %s shows no part of the key where it is cut', async (_name, status, type, body) => {
  const server = await serve((connection) =>
    connection.write(rawResponse({ status, headers: { 'content-type': type }, body })),
  );
  const { outcome } = await ask(clientFor(server.url, { apiKey: KEY }));
  if (outcome.kind === 'ok') throw new Error('not refused');
  expect(outcome.message).toMatch(/^The model endpoint answered|is no chat completion/);
  expect(outcome.message).not.toContain('Zq7');
});
