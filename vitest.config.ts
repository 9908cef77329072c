import { availableParallelism } from 'node:os';
import { defineConfig } from 'vitest/config';

const common = {
  testTimeout: 30_000,
  hookTimeout: 30_000,
  // Half of the time went into loading the same packages for each file. Modules of the project are loaded anew.
  isolate: false,
  exclude: ['test/browser/**'],
};

// The suite proves that nothing needs a network or a key: no test may see the developer's own settings.
const env = {
  OPENAI_API_KEY: '',
  OPENAI_BASE_URL: '',
  MAIN_MODEL: '',
  COMPACT_MODEL: '',
  COMPACT_BASE_URL: '',
  COMPACT_API_KEY: '',
};

/** Folders of what a store has a part in. */
const FOLDERS = ['contract', 'e2e', 'agents', 'idempotency', 'cases', 'http'];
const ON_SQLITE = FOLDERS.map((folder) => `test/${folder}/**/*.test.ts`);
/** What runs on PostgreSQL too, so that a run stays short: all of it with TEST_ALL_STORES=1. */
const ON_POSTGRES =
  process.env['TEST_ALL_STORES'] === '1'
    ? ON_SQLITE
    : [
        'test/contract/**/*.test.ts',
        'test/idempotency/claims.test.ts',
        'test/agents/{chat-keys,open-turns,tasks,tasks-leases,tasks-resume}.test.ts',
        'test/e2e/paused-node.test.ts',
      ];
/** In one of them, but with a PostgreSQL of their own: they run once. */
const OWN_STORE = ['test/e2e/postgres-*.test.ts', 'test/e2e/chaos-short.test.ts'];

const onStore = (store: 'sqlite' | 'postgres') => ({
  test: {
    ...common,
    name: store,
    include: store === 'postgres' ? ON_POSTGRES : ON_SQLITE,
    exclude: [...common.exclude, ...OWN_STORE],
    env: { ...env, STORE: store },
  },
});

export default defineConfig({
  test: {
    // Once for the run, before the projects: the service is compiled, and a PostgreSQL server stands ready.
    globalSetup: ['test/support/build.ts', 'test/support/postgres-setup.ts'],
    reporters: ['default', './test/support/store-counts.ts'],
    // Much of the suite waits for timers and processes.
    maxWorkers: Math.max(2, availableParallelism() - 1),
    projects: [
      onStore('sqlite'),
      onStore('postgres'),
      {
        test: {
          ...common,
          name: 'other',
          include: [`test/!(${FOLDERS.join('|')})/**/*.test.ts`, 'test/*.test.ts', ...OWN_STORE],
          env: { ...env, STORE: 'sqlite' },
        },
      },
    ],
  },
});
