import { join } from 'node:path';
import { POSTGRES_DEFAULTS } from '../../src/db/postgres/settings.js';
import type { Store } from '../../src/db/store.js';
import { openPostgresStore } from '../../src/db/store.postgres.js';
import { openSqliteStore } from '../../src/db/store.sqlite.js';
import { freshDatabase } from '../support/postgres.js';
import { temporaryFolder } from '../support/service.js';

/** Every store that the contract holds for: how to open an empty one. */
export const STORES: readonly { readonly name: string; open(): Promise<Store> }[] = [
  { name: 'sqlite', open: async () => openSqliteStore(join(temporaryFolder(), 'store.db')) },
  {
    name: 'postgres',
    open: async () => openPostgresStore(await freshDatabase(), POSTGRES_DEFAULTS, () => {}),
  },
];
