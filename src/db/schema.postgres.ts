/**
 * The concrete PostgreSQL tables. drizzle-kit reads this module to generate `drizzle/postgresql`.
 * The cast is where the two dialects meet: a test shows that the column types of both stand for the same values.
 */
import * as columns from './columns.postgres.js';
import type * as sqliteColumns from './columns.sqlite.js';
import { defineTables } from './tables.js';

export const tables = defineTables(columns as unknown as typeof sqliteColumns);
export const { sessions, messages, compactions, agents, tasks, task_events, idempotency_keys } = tables;
