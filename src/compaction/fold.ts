import { AppError } from '../errors.js';
import { fitsWindow, summaryLimit } from './budget.js';
import type { ChunkReader } from './chunk-reader.js';
import type { Ledger } from './ledger.js';
import { budgetTooSmall, Room, type RoomOptions } from './room.js';
import { type WrittenSummary, writeSummary } from './write-summary.js';

/** Summarizer calls per compaction; then it stops at the last safe cut, and the next call goes on from there. */
export const MAX_CALLS = 200;

export interface FoldOptions extends RoomOptions {
  readonly reader: ChunkReader;
  readonly ledger: Ledger;
  readonly signal: AbortSignal;
}

/** Everything before `size` is in `summary`: a state that may be committed. */
export interface FoldStep {
  readonly summary: string;
  readonly size: number;
}

/**
 * Folds a batch into the summary, in as many calls as it takes, and yields at each safe cut. Nothing is left
 * out: what does not fit one call goes into the next. Throws an AppError when a step fails; the steps that
 * were yielded stand.
 */
export async function* foldBatch(
  previousSummary: string | null,
  options: FoldOptions,
): AsyncGenerator<FoldStep> {
  const { reader, ledger } = options;
  let room = new Room(options);
  let summary = previousSummary;
  let stepped = false;
  while (!reader.done) {
    if (ledger.calls >= MAX_CALLS) {
      if (stepped) return;
      throw new AppError(
        'SUMMARY_BUDGET_TOO_SMALL',
        `${MAX_CALLS} calls did not reach a place to cut the history`,
      );
    }
    if (summary !== null && room.isTight(summary)) {
      const shorter = await shortened(summary, room, options);
      if (shorter === null) {
        room = new Room(options);
        continue;
      }
      summary = shorter;
    }
    const chunk = await reader.take(room.forText(summary));
    if (chunk.text === '') {
      // Empty messages before one that is too large to go with them: nothing to tell a model.
      reader.advance(chunk);
      continue;
    }
    const written = await foldChunk(summary, chunk.text, chunk.chars, options);
    if (written.kind === 'handed_over') {
      // What the endpoint that failed refused says nothing of the next one.
      room = new Room(options);
      continue;
    }
    if (written.kind === 'overflow') {
      room.shrink(chunk.text, summary, written.overflow);
      continue;
    }
    summary = written.summary;
    reader.advance(chunk);
    if (chunk.safeEnd !== null) {
      yield { summary, size: chunk.safeEnd };
      stepped = true;
    }
  }
}

function foldChunk(
  previousSummary: string | null,
  transcript: string,
  chars: number,
  { summarizer, ledger, instructions, summaryMaxChars, signal }: FoldOptions,
): Promise<WrittenSummary> {
  const replaced = (previousSummary?.length ?? 0) + chars;
  const maxChars = summaryLimit(replaced, summaryMaxChars, summarizer.budget);
  const allows = (summary: string) => summary.length <= maxChars && fitsWindow(summary, summarizer.budget);
  return writeSummary(
    { previousSummary, transcript, instructions, maxChars, signal },
    { summarizer, ledger, allows },
  );
}

/**
 * A summary that leaves no room for text is rewritten alone, once: a larger model may have written it. Null when another
 * endpoint is asked from now on, where it may leave some.
 */
async function shortened(summary: string, room: Room, options: FoldOptions): Promise<string | null> {
  if (room.fitsAlone(summary)) {
    const written = await foldChunk(summary, '', 0, options);
    if (written.kind === 'handed_over') return null;
    if (written.kind === 'summary' && !room.isTight(written.summary)) return written.summary;
  }
  throw budgetTooSmall();
}
