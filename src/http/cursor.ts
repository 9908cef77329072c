import { type FieldError, fieldError } from '../errors.js';

/** Cursors are opaque to clients: what is in them may change with any release. */
export function encodeCursor(value: readonly (string | number | null)[]): string {
  return Buffer.from(JSON.stringify(value)).toString('base64url');
}

/** The values of a cursor made by `encodeCursor` with that many; VALIDATION_FAILED on anything else. */
export function decodeCursor(cursor: string, length: number): readonly unknown[] {
  try {
    const value: unknown = JSON.parse(Buffer.from(cursor, 'base64url').toString());
    if (Array.isArray(value) && value.length === length) return value;
  } catch {
    // Falls through: what cannot be read was not made here.
  }
  throw badCursor();
}

/** The row key in a cursor of a list that is paged by key. */
export function decodeKeyCursor(cursor: string | undefined): number | null {
  if (cursor === undefined) return null;
  const [key] = decodeCursor(cursor, 1);
  if (typeof key !== 'number' || !Number.isSafeInteger(key)) throw badCursor();
  return key;
}

export function badCursor(where: FieldError['in'] = 'query') {
  return fieldError(where, '/cursor', 'is not a cursor of this list');
}

/** The page in front of which one item more was read, to know whether there is more. */
export function keyPage<Row extends { pk: number }, Item>(
  rows: readonly Row[],
  limit: number,
  present: (row: Row) => Item,
) {
  const page = rows.slice(0, limit);
  const last = page.at(-1);
  const hasMore = rows.length > limit && last !== undefined;
  return {
    data: page.map(present),
    next_cursor: hasMore ? encodeCursor([last.pk]) : null,
    has_more: hasMore,
  };
}
