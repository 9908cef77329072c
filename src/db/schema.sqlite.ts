/** The concrete SQLite tables. drizzle-kit reads this module to generate `drizzle/sqlite`. */
import * as columns from './columns.sqlite.js';
import { defineTables } from './tables.js';

export const tables = defineTables(columns);
export const { sessions, messages, compactions, agents, tasks, task_events, idempotency_keys } = tables;
