import { addTaskEvent } from '../../db/repositories/task-events.js';
import type { Db, Store } from '../../db/store.js';
import type { Logger } from '../../logger.js';
import type { TurnEnd, TurnEvent } from '../turn/events.js';
import type { OutstandingCall } from '../turn/outstanding-calls.js';
import { ownTask } from './own-task.js';

interface Parts {
  readonly store: Store;
  /** Ms since the epoch. */
  readonly clock: () => number;
  readonly logger: Logger;
  /** Called when events have been stored. */
  readonly onStored: () => void;
}

/**
 * Stores what a run of a task tells, as events of the task, in order, and before the event of the state that the
 * run ends in. Pieces of text are not stored. When the task is no longer this run's, nothing is.
 */
export class TaskLog {
  readonly #parts: Parts;
  readonly #taskPk: number;
  readonly #owner: string;
  readonly #calls = new WeakSet<OutstandingCall>();
  #waiting: TurnEvent[] = [];
  /** Whether a transaction is asked for that has not begun. */
  #writes = false;
  #ended = false;

  constructor(parts: Parts, taskPk: number, owner: string) {
    this.#parts = parts;
    this.#taskPk = taskPk;
    this.#owner = owner;
  }

  /** For the turn's events. */
  push(event: TurnEvent): void {
    if (this.#ended || event.type === 'message-delta' || event.type === 'session-opened') return;
    this.#waiting.push(event);
    if (this.#writes) return;
    this.#writes = true;
    const { store, logger, onStored } = this.#parts;
    store
      .tx((db) => {
        this.#writes = false;
        return this.#drain(db);
      })
      .then(onStored, (error: unknown) => {
        this.#writes = false;
        // They go out with the next event, or with the end.
        logger.warn({ err: error }, 'events of a task could not be stored yet');
      });
  }

  /** Notes a call that is looked at after the message that made it was stored, and told. */
  sawCall(call: OutstandingCall): void {
    this.#calls.add(call);
  }

  /**
   * In the transaction of the run's last write, before the state changes. The turn tells its last message only after
   * that transaction, when the end would be told already: it is told here instead.
   */
  async end(db: Db, end: TurnEnd | null): Promise<void> {
    await this.#drain(db);
    if (end === null) return;
    const { message, toolCalls } = end;
    const told = toolCalls.some((call) => this.#calls.has(call));
    if (!told) {
      await this.#store(db, { type: 'message-completed', data: { message } });
      for (const { id, name, arguments: args } of toolCalls) {
        await this.#store(db, { type: 'tool-called', data: { id, name, arguments: args, by: 'caller' } });
      }
    }
    this.#ended = true;
  }

  async #drain(db: Db): Promise<void> {
    const events = this.#waiting;
    if (events.length === 0) return;
    if ((await ownTask(db, this.#taskPk, this.#owner)) !== null) {
      for (const event of events) await this.#store(db, event);
    }
    this.#waiting = [];
  }

  #store(db: Db, event: TurnEvent): Promise<void> {
    return addTaskEvent(db, this.#taskPk, event, this.#parts.clock());
  }
}
