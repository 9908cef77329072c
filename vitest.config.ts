import { defineConfig } from 'vitest/config';

export default defineConfig({
  test: {
    include: ['test/**/*.test.ts'],
    exclude: ['test/browser/**'],
    globalSetup: ['test/support/build.ts', 'test/support/postgres-setup.ts'],
    testTimeout: 30_000,
    hookTimeout: 30_000,
    // The suite proves that nothing needs a network or a key: no test may see the developer's own settings.
    env: {
      OPENAI_API_KEY: '',
      OPENAI_BASE_URL: '',
      MAIN_MODEL: '',
      COMPACT_MODEL: '',
      COMPACT_BASE_URL: '',
      COMPACT_API_KEY: '',
    },
  },
});
