import { existsSync } from 'node:fs';
import { chromium, type Locator, type Page } from 'playwright-core';
import { onTestFinished } from 'vitest';

const executablePath = '/usr/bin/chromium';

/** A page of a real browser, closed with the test. */
export async function openPage(): Promise<Page> {
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

/** What the page shows of an answer. */
export interface ShownAnswer {
  readonly status: string | undefined;
  readonly body: string;
}

export interface SwaggerPage {
  readonly page: Page;
  /** Errors of the page's own scripts; none are expected. */
  readonly broken: readonly string[];
  /** Opens an operation, lets `fill` change what it comes with, presses Execute, and reads the answer shown. */
  execute(operationId: string, fill?: (block: Locator) => Promise<void>): Promise<ShownAnswer>;
}

export async function openSwagger(url: string): Promise<SwaggerPage> {
  const page = await openPage();
  const broken: string[] = [];
  page.on('pageerror', (error) => broken.push(error.message));
  await page.goto(`${url}/docs/`);
  return {
    page,
    broken,
    async execute(operationId, fill = async () => {}) {
      const block = page.locator(`.opblock[id$="-${operationId}"]`);
      if ((await block.locator('.opblock-body').count()) === 0) {
        await block.locator('.opblock-summary-control').click();
      }
      // The answer before is taken away, so that it cannot be read for the new one.
      const clear = block.locator('button.btn-clear');
      if ((await clear.count()) > 0) await clear.click();
      await fill(block);
      await block.locator('button.execute').click();
      const shown = block.locator('.live-responses-table tbody');
      const status = await shown.locator('.response-col_status').first().textContent();
      const body = await shown.locator('.highlight-code code').first().textContent();
      return { status: status?.trim().slice(0, 3), body: body ?? '' };
    },
  };
}

/** Types a path parameter. */
export async function fillParameter(block: Locator, name: string, value: string): Promise<void> {
  await block.locator(`tr[data-param-name="${name}"] input`).fill(value);
}

export async function fillBody(block: Locator, body: object): Promise<void> {
  await block.locator('textarea.body-param__text').fill(JSON.stringify(body, null, 2));
}
