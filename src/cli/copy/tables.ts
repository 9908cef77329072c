import { getTableColumns, getTableName } from 'drizzle-orm';
import { tables } from '../../db/schema.sqlite.js';

/** What a column of any dialect holds. */
export type Value = string | number | null;
/** Values in the order of the table's columns; the first is the row's key. */
export type Row = readonly Value[];

export interface CopyTable {
  readonly name: string;
  /** `pk` first. */
  readonly columns: readonly { readonly name: string; readonly kind: 'text' | 'integer' | 'real' }[];
}

/** Every table of the schema; those that others refer to come before them. */
export const COPY_TABLES: readonly CopyTable[] = Object.values(tables).map((table) => ({
  name: getTableName(table),
  columns: Object.values(getTableColumns(table)).map((column) => {
    const kind = column.getSQLType();
    if (kind !== 'text' && kind !== 'integer' && kind !== 'real') throw new Error(`a column of type ${kind}`);
    return { name: column.name, kind };
  }),
}));

/** The columns as SQL lists them. */
export function columnList(table: CopyTable): string {
  return table.columns.map(({ name }) => `"${name}"`).join(', ');
}
