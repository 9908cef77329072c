import type { Db } from './store.js';

/**
 * Builds a set of prepared statements once per connection and remembers it: preparing a statement anew for
 * every request costs a third of the write throughput.
 */
export function perDb<Statements>(build: (db: Db) => Statements): (db: Db) => Statements {
  const known = new WeakMap<Db, Statements>();
  return (db) => {
    let statements = known.get(db);
    if (statements === undefined) {
      statements = build(db);
      known.set(db, statements);
    }
    return statements;
  };
}
