import { request } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import { user } from '../support/messages.js';
import { startService } from '../support/service.js';

describe('an answer of many megabytes', { timeout: 60_000 }, () => {
  const listening = async () => {
    const service = await startService();
    const messages = Array.from({ length: 12 }, (_, i) => user(`${i} ${'x'.repeat(2_000_000)}`));
    await service.call('POST', '/sessions', { id: 's', messages: messages.slice(0, 6) });
    await service.call('POST', '/sessions/s/messages', { messages: messages.slice(6) });
    const port = Number(new URL(await service.app.listen({ host: '127.0.0.1', port: 0 })).port);
    return { service, messages, port };
  };

  it('comes whole to a client that reads slowly, with its length and the id of the request', async () => {
    const { messages, port } = await listening();
    const { text, headers } = await new Promise<{ text: string; headers: Record<string, unknown> }>(
      (resolve, reject) => {
        const sent = request({ port, host: '127.0.0.1', path: '/sessions/s/context' }, async (response) => {
          const chunks: Buffer[] = [];
          for await (const chunk of response) {
            chunks.push(chunk);
            if (chunks.length % 50 === 0) await sleep(2);
          }
          resolve({ text: Buffer.concat(chunks).toString(), headers: response.headers });
        });
        sent.on('error', reject);
        sent.end();
      },
    );
    expect(JSON.parse(text)).toMatchObject({ messages, tail_count: 12 });
    expect(headers['content-length']).toBe(String(Buffer.byteLength(text)));
    expect(headers['content-type']).toBe('application/json; charset=utf-8');
    expect(headers['x-request-id']).toMatch(/^[0-9a-f-]{36}$/);
  });

  it('that nobody waits for any more harms nobody', async () => {
    const { service, port } = await listening();
    for (let i = 0; i < 3; i += 1) {
      await new Promise<void>((resolve) => {
        const sent = request({ port, host: '127.0.0.1', path: '/sessions/s/context' }, (response) => {
          response.once('data', () => {
            sent.destroy();
            resolve();
          });
        });
        sent.on('error', () => {});
        sent.end();
      });
    }
    expect((await service.call('GET', '/sessions/s/context')).body.tail_count).toBe(12);
  });
});
