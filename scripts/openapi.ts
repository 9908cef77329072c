import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pino } from 'pino';
import { loadConfig } from '../src/config.js';
import { createApp } from '../src/create-app.js';

/** Writes openapi/openapi.json from the routes; with --check, fails when the file is not what they say. */
const file = new URL('../openapi/openapi.json', import.meta.url);
const folder = mkdtempSync(join(tmpdir(), 'compactd-openapi-'));
try {
  const config = loadConfig({ DATABASE_URL: `file:${folder}/openapi.db` });
  const app = await createApp(config, pino({ level: 'silent' }));
  const text = `${JSON.stringify(app.swagger(), null, 2)}\n`;
  await app.close();
  if (!process.argv.includes('--check')) {
    writeFileSync(file, text);
  } else if (readFileSync(file, 'utf8') !== text) {
    process.stderr.write('openapi/openapi.json is not up to date: run `npm run openapi`\n');
    process.exitCode = 1;
  }
} finally {
  rmSync(folder, { recursive: true });
}
