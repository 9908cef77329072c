import { join } from 'node:path';
import type { Store } from '../../src/db/store.js';
import { openSqliteStore } from '../../src/db/store.sqlite.js';
import { temporaryFolder } from '../support/service.js';

/** Every store that the contract holds for: how to open an empty one. */
export const STORES: readonly { readonly name: string; open(): Promise<Store> }[] = [
  { name: 'sqlite', open: async () => openSqliteStore(join(temporaryFolder(), 'store.db')) },
];
