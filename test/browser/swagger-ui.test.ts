import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { turns } from '../support/messages.js';
import { startProcess } from '../support/process.js';
import { temporaryFolder } from '../support/service.js';
import { openPage, openSwagger } from './swagger-page.js';

describe('Swagger UI', () => {
  it('creates a session and compacts it by hand, with nothing typed but its id', async () => {
    const service = await startProcess({ DATABASE_URL: `file:${join(temporaryFolder(), 'compactd.db')}` });
    const { execute, broken } = await openSwagger(service.url);

    expect((await execute('createSession')).status).toBe('201');
    const compacted = await execute('compactSession', async (block) => {
      const id = block.locator('tr[data-param-name="id"] input');
      if ((await id.inputValue()) === '') await id.fill('trip-to-oslo');
    });
    expect(compacted.status).toBe('200');
    expect(compacted.body).toContain('"alreadyUpToDate": false');
    const { body } = await service.call('GET', '/sessions/trip-to-oslo');
    expect(body.compact_size).toBeGreaterThan(0);
    expect(body.compact_summary).not.toBeNull();
    expect(broken).toEqual([]);
  });

  it('reaches the service from its own page, and no other page does', async () => {
    const service = await startProcess({ DATABASE_URL: `file:${join(temporaryFolder(), 'compactd.db')}` });
    const other = await startProcess({ DATABASE_URL: `file:${join(temporaryFolder(), 'compactd.db')}` });
    await service.call('POST', '/sessions', { id: 's', messages: turns(4, 100) });
    const page = await openPage();
    await page.goto(`${other.url}/docs/`);
    const statusOf = (url: string) =>
      page.evaluate(async (target) => {
        try {
          return (await fetch(target, { method: 'POST' })).status;
        } catch {
          return 'refused';
        }
      }, url);
    expect(await statusOf(`${other.url}/sessions`)).toBe(201);
    expect(await statusOf(`${service.url}/sessions/s/compact`)).toBe('refused');
    expect((await service.call('GET', '/sessions/s')).body.compact_size).toBe(0);
  });
});
