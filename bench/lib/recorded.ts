import Database from 'better-sqlite3';
import pg from 'pg';

/** A statement that a store ran. */
export interface Recorded {
  readonly text: string;
  readonly values: readonly unknown[];
}

type Statement = Database.Statement<unknown[], unknown>;

/** What a use of the SQLite store has the driver do, but for what begins and ends transactions. */
export async function recordSqlite(use: () => Promise<unknown>): Promise<Recorded[]> {
  const recorded: Recorded[] = [];
  const connection = new Database(':memory:');
  const prototype: Statement = Object.getPrototypeOf(connection.prepare('SELECT 1'));
  const { run, all } = prototype;
  prototype.run = function (this: Statement, ...values) {
    recorded.push({ text: this.source, values });
    return run.apply(this, values);
  };
  prototype.all = function (this: Statement, ...values) {
    recorded.push({ text: this.source, values });
    return all.apply(this, values);
  };
  try {
    await use();
  } finally {
    Object.assign(prototype, { run, all });
    connection.close();
  }
  return recorded.filter(isWork);
}

/** What a use of the PostgreSQL store has the driver do, but for what begins and ends transactions. */
export async function recordPostgres(use: () => Promise<unknown>): Promise<Recorded[]> {
  const recorded: Recorded[] = [];
  const { query } = pg.Client.prototype;
  Object.assign(pg.Client.prototype, {
    query(this: pg.Client, ...args: unknown[]) {
      const [config, values] = args;
      if (typeof config === 'object' && config !== null && 'text' in config)
        recorded.push({ text: String(config.text), values: Array.isArray(values) ? values : [] });
      return Reflect.apply(query, this, args);
    },
  });
  try {
    await use();
  } finally {
    Object.assign(pg.Client.prototype, { query });
  }
  return recorded.filter(isWork);
}

const isWork = ({ text }: Recorded) => /^\s*(with|select|insert|update|delete)\b/i.test(text);
