import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { chromium, type Page } from 'playwright-core';
import { describe, expect, it, onTestFinished } from 'vitest';
import { turns } from '../support/messages.js';
import { startProcess } from '../support/process.js';
import { temporaryFolder } from '../support/service.js';

const executablePath = '/usr/bin/chromium';

async function openPage(): Promise<Page> {
  if (!existsSync(executablePath)) throw new Error(`There is no ${executablePath}: apt-get install chromium`);
  const flags = [
    '--no-sandbox',
    '--disable-gpu',
    '--disable-quic',
    '--no-first-run',
    '--disable-background-networking',
    '--disable-component-update',
    '--disable-sync',
  ];
  const browser = await chromium.launch({ executablePath, args: flags });
  onTestFinished(() => browser.close());
  return browser.newPage();
}

describe('Swagger UI', () => {
  it('creates a session and compacts it by hand, with nothing typed but its id', async () => {
    const service = await startProcess({ DATABASE_URL: `file:${join(temporaryFolder(), 'compactd.db')}` });
    const page = await openPage();
    const broken: string[] = [];
    page.on('pageerror', (error) => broken.push(error.message));
    await page.goto(`${service.url}/docs/`);

    const execute = async (
      operationId: string,
      prepare: (block: ReturnType<Page['locator']>) => Promise<void>,
    ) => {
      const block = page.locator(`.opblock[id$="-${operationId}"]`);
      await block.locator('.opblock-summary-control').click();
      await prepare(block);
      await block.locator('button.execute').click();
      const status = await block
        .locator('.live-responses-table tbody .response-col_status')
        .first()
        .textContent();
      const body = await block.locator('.live-responses-table tbody .highlight-code').first().textContent();
      return { status: status?.trim().slice(0, 3), body: body ?? '' };
    };

    const created = await execute('createSession', async () => {});
    expect(created.status).toBe('201');
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
