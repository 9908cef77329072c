import { defineConfig } from 'vitest/config';

/** The test in a real browser, apart from the others: it needs Debian's Chromium. */
export default defineConfig({
  test: {
    include: ['test/browser/**/*.test.ts'],
    globalSetup: ['test/support/build.ts'],
    testTimeout: 60_000,
  },
});
