import type { Readable } from 'node:stream';
import type { Answer, ReadAnswer } from './answer.js';
import { classify } from './classify.js';
import { type ErrorFacts, readErrorDocument } from './error-facts.js';
import type { Failure, Outcome } from './outcome.js';
import { ReplyReader } from './reply-reader.js';
import { chunksOf, releaseBody } from './response-body.js';
import { stopFailure } from './stop.js';
import { isBrokenFrame, transportReason } from './transport-failure.js';

/** Largest answer that is read, in bytes after decompression. */
const ANSWER_LIMIT = 32 * 1024 * 1024;

/** What a message says before the reason why the connection broke has this many chars at most. */
const EXCERPT_BESIDE_REASON = 200;

/** How reading the body ended, beside what the reader made of it. */
interface Reading {
  readonly tooLarge: boolean;
  readonly broken: { readonly error: unknown } | null;
}

/** Reads an answer with a status of 2xx. */
export async function readReply(answer: Answer, plain: Readable): Promise<ReadAnswer> {
  const { headers, body } = answer.response;
  const reader = new ReplyReader(String(headers['content-type'] ?? ''));
  const reading = await readBody(answer, plain, reader);
  if (reader.isOver && plain === body) releaseBody(body);
  else body.destroy();
  const ended = judge(answer, reader, reading);
  // A plain JSON reply is only known to be one at its end.
  if ('kind' in ended && ended.kind === 'ok') handOut(answer, reader);
  const { usage } = reader;
  if (!('refused' in ended)) return { outcome: ended, usage, refusal: null };
  const { url, clean } = answer;
  const { refused } = ended;
  const outcome = classify({ httpStatus: answer.response.statusCode, headers, facts: refused, url, clean });
  return { outcome, usage, refusal: refused };
}

async function readBody(answer: Answer, plain: Readable, reader: ReplyReader): Promise<Reading> {
  const { clocks } = answer;
  // Streaming, because a character may be split between two chunks; it also drops a byte order mark.
  const decoder = new TextDecoder();
  let size = 0;
  try {
    for await (const chunk of chunksOf(plain)) {
      size += chunk.length;
      if (size > ANSWER_LIMIT) return { tooLarge: true, broken: null };
      if (reader.feed(decoder.decode(chunk, { stream: true }))) {
        if (reader.isFinished) clocks.replyFinished();
        else clocks.life();
        if (answer.stopped() === null) handOut(answer, reader);
      }
      if (reader.isOver) break;
    }
    return { tooLarge: false, broken: null };
  } catch (error) {
    return { tooLarge: false, broken: { error } };
  }
}

function handOut({ onText }: Answer, reader: ReplyReader): void {
  if (onText === undefined) return;
  const text = reader.takeText();
  if (text !== '') onText(text);
}

function judge(
  answer: Answer,
  reader: ReplyReader,
  { tooLarge, broken }: Reading,
): Outcome | { readonly refused: ErrorFacts } {
  const { clean } = answer;
  const { statusCode } = answer.response;
  const failed = (kind: 'protocol' | 'incomplete' | 'empty', message: string): Failure => ({
    kind,
    message: clean(message),
    status: statusCode,
  });
  const stop = answer.stopped();
  if (stop?.by === 'caller') return stopFailure(stop, statusCode);
  if (tooLarge)
    return failed('protocol', `The answer of the model endpoint is larger than ${ANSWER_LIMIT} bytes`);
  // First what the answer says: a reply or an error that is complete counts, however the connection ended.
  const end = reader.conclude(broken === null ? 'closed' : 'broken');
  if (end.kind === 'ok') return end;
  if (end.kind === 'error') return { refused: readErrorDocument(end.document) };
  if (stop !== null) return stopFailure(stop, statusCode);
  if (broken === null) return failed(end.kind, end.message);
  const kind = isBrokenFrame(broken.error) ? 'protocol' : end.kind;
  // The excerpt in it may be cut, which is only seen at its end; the reason must have room too.
  return failed(kind, `${clean(end.message, EXCERPT_BESIDE_REASON)} (${transportReason(broken.error)})`);
}
