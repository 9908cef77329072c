import { describe, it } from 'vitest';
import { databaseOf } from './postgres.js';

/** The store that services under test run on: `npx vitest run --project postgres test/e2e`. */
export const TESTED_STORE: 'sqlite' | 'postgres' =
  process.env['STORE'] === 'postgres' ? 'postgres' : 'sqlite';

/** Tests of what only a SQLite file has; elsewhere they are left out, and their name says why. */
export const describeOnSqlite = (name: string, why: string, tests: () => void) =>
  TESTED_STORE === 'sqlite' ? describe(name, tests) : describe.skip(leftOut(name, why), tests);

/** As `describeOnSqlite`, for one test. */
export const itOnSqlite = (name: string, why: string, test: () => Promise<void> | void) =>
  TESTED_STORE === 'sqlite' ? it(name, test) : it.skip(leftOut(name, why), test);

const leftOut = (name: string, why: string) => `${name} [only on SQLite: ${why}]`;

/** Where data that tests know by the name of a SQLite file is, as DATABASE_URL says it. */
export async function databaseUrlOf(file: string): Promise<string> {
  return TESTED_STORE === 'sqlite' ? `file:${file}` : databaseOf(file);
}

/** Variables of a service whose DATABASE_URL may name a SQLite file, for the store that is tested. */
export async function onTestedStore<Variables extends Readonly<Record<string, string | undefined>>>(
  variables: Variables,
): Promise<Variables> {
  const url = variables['DATABASE_URL'];
  if (TESTED_STORE === 'sqlite' || !url?.startsWith('file:')) return variables;
  // As a file is: migrated at the start.
  return {
    MIGRATE_ON_BOOT: 'true',
    ...variables,
    DATABASE_URL: await databaseOf(url.slice('file:'.length)),
  };
}
