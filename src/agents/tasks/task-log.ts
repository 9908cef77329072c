import { addTaskEvent } from '../../db/repositories/task-events.js';
import type { FoundTask } from '../../db/repositories/tasks.js';
import type { Db, Store } from '../../db/store.js';
import type { Logger } from '../../logger.js';
import type { TurnEnd, TurnEvent } from '../turn/events.js';
import type { OutstandingCall } from '../turn/outstanding-calls.js';
import { ownTask } from './own-task.js';

interface Parts {
  readonly store: Pick<Store, 'tx'>;
  /** Ms since the epoch. */
  readonly clock: () => number;
  readonly logger: Logger;
  /** Called when events have been stored. */
  readonly onStored: () => void;
}

/** The run that a log is of. */
interface LoggedRun {
  readonly pk: number;
  /** Events of the task when the run began: what it has more, as long as the run owns it, this log has stored. */
  readonly eventCount: number;
  readonly owner: string;
}

/**
 * Stores what a run of a task tells, as events of the task, in order, and before the event of the state that the
 * run ends in. Pieces of text are not stored. When the task is no longer this run's, nothing is.
 *
 * What is stored already is asked of the task itself, under its lock, in each transaction: one that was undone, ran
 * twice, or was committed without the answer coming back, leaves no event out and tells none twice.
 */
export class TaskLog {
  readonly #parts: Parts;
  readonly #run: LoggedRun;
  readonly #calls = new WeakSet<OutstandingCall>();
  /** Those after the first `#dropped`, which are known to be stored. */
  #events: TurnEvent[] = [];
  #dropped = 0;
  /** Whether a transaction is asked for that has not begun. */
  #writes = false;
  /** Spares transactions that would find the task no longer this run's. */
  #ended = false;

  constructor(parts: Parts, run: LoggedRun) {
    this.#parts = parts;
    this.#run = run;
  }

  /** For the turn's events. */
  push(event: TurnEvent): void {
    if (this.#ended || event.type === 'message-delta' || event.type === 'session-opened') return;
    this.#events.push(event);
    if (this.#writes) return;
    this.#writes = true;
    const { store, logger, onStored } = this.#parts;
    store
      .tx(async (db) => {
        this.#writes = false;
        return this.#storeNew(db, await ownTask(db, this.#run.pk, this.#run.owner));
      })
      .then(
        (count) => {
          this.#drop(count);
          onStored();
        },
        (error: unknown) => {
          this.#writes = false;
          // They go out with the next event, or with the end.
          logger.warn({ err: error }, 'events of a task could not be stored yet');
        },
      );
  }

  /** Notes a call that is looked at after the message that made it was stored, and told. */
  sawCall(call: OutstandingCall): void {
    this.#calls.add(call);
  }

  /**
   * In the transaction of the run's last write, before the state changes. The turn tells its last message only after
   * that transaction, when the end would be told already: it is told here instead.
   *
   * @param task as it was read in the transaction
   */
  async end(db: Db, task: FoundTask, end: TurnEnd | null): Promise<void> {
    this.#ended = true;
    await this.#storeNew(db, task);
    if (end === null) return;
    const { message, toolCalls } = end;
    if (toolCalls.some((call) => this.#calls.has(call))) return;
    await this.#store(db, { type: 'message-completed', data: { message } });
    for (const { id, name, arguments: args } of toolCalls) {
      await this.#store(db, { type: 'tool-called', data: { id, name, arguments: args, by: 'caller' } });
    }
  }

  /** Stores what the task, if it is still the run's, has not got yet. Gives how many events it need not ask for again. */
  async #storeNew(db: Db, task: FoundTask | null): Promise<number> {
    const count = this.#dropped + this.#events.length;
    if (task === null) return count;
    const stored = task.event_count - this.#run.eventCount;
    const events = this.#events.slice(Math.max(0, stored - this.#dropped));
    for (const event of events) await this.#store(db, event);
    return count;
  }

  /** Once the transaction that stored the first `count` events is committed. */
  #drop(count: number): void {
    if (count <= this.#dropped) return;
    this.#events = this.#events.slice(count - this.#dropped);
    this.#dropped = count;
  }

  #store(db: Db, event: TurnEvent): Promise<void> {
    return addTaskEvent(db, this.#run.pk, event, this.#parts.clock());
  }
}
