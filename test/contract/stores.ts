import { join } from 'node:path';
import { POSTGRES_DEFAULTS } from '../../src/db/postgres/settings.js';
import type { Store } from '../../src/db/store.js';
import { openPostgresStore } from '../../src/db/store.postgres.js';
import { openSqliteStore } from '../../src/db/store.sqlite.js';
import { freshDatabase } from '../support/postgres.js';
import { temporaryFolder } from '../support/service.js';
import { TESTED_STORE } from '../support/tested-store.js';

const ALL: readonly { readonly name: typeof TESTED_STORE; open(): Promise<Store> }[] = [
  { name: 'sqlite', open: async () => openSqliteStore(join(temporaryFolder(), 'store.db')) },
  {
    name: 'postgres',
    open: async () => openPostgresStore(await freshDatabase(), POSTGRES_DEFAULTS, () => {}),
  },
];

/** The store under test, which the contract holds for: how to open an empty one. */
export const STORES = ALL.filter(({ name }) => name === TESTED_STORE);
