import type { Readable } from 'node:stream';
import type { Answer, ReadAnswer } from './answer.js';
import { classify } from './classify.js';
import type { Clocks } from './clocks.js';
import { readErrorBody } from './error-facts.js';
import { parseJson } from './narrow.js';
import { chunksOf } from './response-body.js';
import { stopFailure } from './stop.js';
import { usageIn } from './usage.js';

/** Largest part of an error body that is read, in bytes. */
const ERROR_BODY_LIMIT = 64 * 1024;

/** Reads an answer with a status of 400 and up. */
export async function readRefusal(answer: Answer, plain: Readable): Promise<ReadAnswer> {
  const { statusCode, headers, body } = answer.response;
  const text = await readText(plain, answer.clocks);
  body.destroy();
  const usage = usageIn(parseJson(text));
  const stop = answer.stopped();
  // A clock that ran out in the middle of an error text takes nothing from the status; a cancel does.
  if (stop?.by === 'caller') return { outcome: stopFailure(stop, statusCode), usage, refusal: null };
  const { url, clean } = answer;
  const refusal = readErrorBody(text);
  const outcome = classify({ httpStatus: statusCode, headers, facts: refusal, url, clean });
  return { outcome, usage, refusal };
}

async function readText(body: Readable, clocks: Clocks): Promise<string> {
  const chunks: Uint8Array[] = [];
  let size = 0;
  try {
    for await (const chunk of chunksOf(body)) {
      clocks.life();
      chunks.push(chunk);
      size += chunk.length;
      if (size >= ERROR_BODY_LIMIT) break;
    }
  } catch {
    // The connection broke; the status and what came of the text are enough.
  }
  return Buffer.concat(chunks).toString('utf8', 0, ERROR_BODY_LIMIT);
}
