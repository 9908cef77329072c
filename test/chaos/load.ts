import { setTimeout as sleep } from 'node:timers/promises';
import type { Client } from './client.js';
import type { Figures } from './figures.js';
import type { Journal } from './journal.js';
import { append, chat, compact, read, reset } from './operations.js';
import type { Random } from './random.js';
import { runTask } from './task-operation.js';

/** What the operations of one client share. */
export interface Load {
  readonly client: Client;
  readonly random: Random;
  readonly journal: Journal;
  readonly figures: Figures;
  /** How long a task is looked after, in ms. */
  readonly patienceMs: number;
  /** What was answered that never should be. */
  readonly faults: string[];
  /** Sessions that are never emptied, so that each message must be there at the end. */
  readonly lasting: readonly string[];
  /** Sessions that are emptied now and then. */
  readonly emptied: readonly string[];
}

const OPERATIONS = { append, chat, compact, read, reset, task: runTask };
const WEIGHTS = { append: 32, chat: 20, compact: 24, read: 10, reset: 3, task: 13 };

/** One client, that does one thing after another until the time is over. Gives how many. */
export async function runClient(load: Load, until: number, mostOperations: number): Promise<number> {
  let done = 0;
  for (; done < mostOperations && performance.now() < until; done += 1) {
    const name = load.random.weighted(WEIGHTS);
    load.figures.count('operations', name);
    await OPERATIONS[name](load);
    await sleep(load.random.int(5, 120));
  }
  return done;
}
