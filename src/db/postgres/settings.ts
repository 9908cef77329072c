/** How this process uses a PostgreSQL server. */
export interface PostgresSettings {
  /** Connections at most, but for one that listens. Each transaction and each snapshot holds one. */
  readonly poolSize: number;
  /** How long to wait for a connection, new or free, in ms. */
  readonly connectTimeoutMs: number;
  /** How long one statement may run, in ms. */
  readonly statementTimeoutMs: number;
  /** How long one statement may wait for a lock, in ms. */
  readonly lockTimeoutMs: number;
  /** How long a transaction may be idle before the server ends it and frees its locks, in ms: a paused process. */
  readonly idleTransactionTimeoutMs: number;
  /**
   * Whether a pooler gives each transaction another server connection. Nothing that outlives a transaction is used
   * then: no named statements, no settings of the connection, no LISTEN.
   */
  readonly transactionPooler: boolean;
}

export const POSTGRES_DEFAULTS: PostgresSettings = {
  poolSize: 10,
  connectTimeoutMs: 5_000,
  statementTimeoutMs: 30_000,
  lockTimeoutMs: 15_000,
  idleTransactionTimeoutMs: 10_000,
  transactionPooler: false,
};
