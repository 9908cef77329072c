/** The column types of the PostgreSQL dialect, under the names that `tables.ts` uses: see `columns.sqlite.ts`. */
import { bigint, doublePrecision, foreignKey, index, pgTable, text, uniqueIndex } from 'drizzle-orm/pg-core';

export const table = pgTable;
export { foreignKey, index, uniqueIndex };

/** Internal row key. `by default`, so that a copied row keeps the key that its children refer to. */
export const serialKey = () => bigint({ mode: 'number' }).primaryKey().generatedByDefaultAsIdentity();
export const rowKey = serialKey;
/** Not jsonb where it holds JSON, which would reorder keys. U+0000 is refused: JSON escapes it, ids and titles may not hold it. */
export const str = text;
/** A 64-bit integer; JavaScript reads it exactly up to 2^53. */
export const int = () => bigint({ mode: 'number' });
export const float = () => doublePrecision();
/** Milliseconds since the epoch. */
export const epochMs = () => bigint({ mode: 'number' });
