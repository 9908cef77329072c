import { defineConfig } from 'drizzle-kit';

/** For one dialect at a time: `npm run migrations` runs it for both. */
export default process.env['DIALECT'] === 'postgresql'
  ? defineConfig({
      dialect: 'postgresql',
      schema: './src/db/schema.postgres.ts',
      out: './drizzle/postgresql',
    })
  : defineConfig({ dialect: 'sqlite', schema: './src/db/schema.sqlite.ts', out: './drizzle/sqlite' });
