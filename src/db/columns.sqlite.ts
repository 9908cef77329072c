/**
 * The column types of the SQLite dialect, under the names that `tables.ts` uses. A second dialect exports the
 * same names with its own types, so that every table body is written once.
 */
import { foreignKey, index, integer, real, sqliteTable, text, uniqueIndex } from 'drizzle-orm/sqlite-core';

export const table = sqliteTable;
export { foreignKey, index, uniqueIndex };

/** Internal row key. AUTOINCREMENT: a key is never given out twice, so it can fence writes and page lists. */
export const serialKey = () => integer().primaryKey({ autoIncrement: true });
/** Internal row key of the hot table: may be reused after the highest row is deleted, cheaper to give out. */
export const rowKey = () => integer().primaryKey();
export const str = text;
/** A 64-bit integer; JavaScript reads it exactly up to 2^53. */
export const int = () => integer();
export const float = () => real();
/** Milliseconds since the epoch. */
export const epochMs = () => integer();
