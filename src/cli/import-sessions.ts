import { type ChatMessage, measure } from '../compaction/measure.js';
import type { JsonDocument } from './read-documents.js';
import { ServiceGone, type ServiceTarget } from './service-target.js';
import { type Fault, findSessions, type SessionSource } from './session-source.js';
import { storeSession } from './store-session.js';
import { TaskPool } from './task-pool.js';

/** Sessions on their way at one time: enough to share commits, few enough to hold in memory. */
const CONCURRENCY = 4;

export interface ImportTally {
  sessions: number;
  messages: number;
  /** UTF-16 units of text, as the service counts them. */
  chars: number;
  bad: number;
}

export interface ImportRun {
  readonly target: ServiceTarget;
  /** Counted up as the import goes on. */
  readonly tally: ImportTally;
  readonly onBad: (place: string, faults: readonly Fault[]) => void;
  /** Ends the reading; sessions on their way arrive. */
  readonly signal: AbortSignal;
}

/** Stores every session of the documents that can be stored. Throws ServiceGone when nobody answers any more. */
export async function importSessions(
  documents: AsyncIterable<JsonDocument>,
  { target, tally, onBad, signal }: ImportRun,
): Promise<void> {
  const pool = new TaskPool(CONCURRENCY);
  /** By id, the last one on its way: of two with one id the first in the input wins, at any concurrency. */
  const underWay = new Map<string, Promise<void>>();
  const report = (place: string, faults: readonly Fault[]) => {
    tally.bad += 1;
    onBad(place, faults);
  };

  const store = async (place: string, source: SessionSource, before: Promise<void> | undefined) => {
    await before;
    try {
      const faults = await storeSession(target, source);
      if (faults.length > 0) return report(place, faults);
      tally.sessions += 1;
      tally.messages += source.messages.length;
      for (const value of source.values) if (isStoredMessage(value)) tally.chars += measure(value).chars;
    } catch (error) {
      if (error instanceof ServiceGone) report(place, [{ pointer: '', reason: error.message }]);
      throw error;
    }
  };

  try {
    for await (const document of documents) {
      for (const { place, source, fault } of findSessions(document)) {
        if (signal.aborted) return;
        if (source === null) {
          report(place, [fault]);
          continue;
        }
        const { id } = source;
        await pool.add(() => {
          const run = store(place, source, id === null ? undefined : underWay.get(id));
          if (id === null) return run;
          const settled = run
            .catch(() => {})
            .finally(() => {
              if (underWay.get(id) === settled) underWay.delete(id);
            });
          underWay.set(id, settled);
          return run;
        });
      }
    }
  } finally {
    await pool.drain();
  }
}

/** Asked only of messages that the service has taken, so that their shape is known. */
function isStoredMessage(value: unknown): value is ChatMessage {
  return typeof value === 'object' && value !== null && 'role' in value;
}
