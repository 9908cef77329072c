import { describe, expect, it, onTestFinished } from 'vitest';
import { createEndpointProbe, type EndpointProbe } from '../../../src/llm/windows/endpoint-probe.js';
import { servedWindow } from '../../../src/llm/windows/served-window.js';
import { SharedResults } from '../../../src/llm/windows/shared-results.js';
import { rawChunk } from '../../support/raw-server.js';
import { endpoint, serve } from '../harness.js';

function probeOf(baseUrl: string): EndpointProbe {
  const asking = createEndpointProbe(endpoint(baseUrl), {});
  onTestFinished(() => asking.probe.close());
  return asking;
}

const never = new AbortController().signal;

describe('a probe', () => {
  it('lets go of a body that is too large', async () => {
    const server = await serve(async (connection) => {
      connection.write('HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n');
      connection.write(rawChunk(' '.repeat(4 * 1024 * 1024 + 1)));
      await connection.closed;
    });
    const { probe, urls } = probeOf(server.url);
    expect(await probe.get(urls.models, never)).toEqual({
      kind: 'failed',
      cause: 'unusable',
      message: 'the answer is larger than 4194304 bytes',
    });
    await server.peerClosed(0);
  });

  it('names the cause when there is no answer', async () => {
    const server = await serve((connection) => connection.closed);
    const { probe, urls } = probeOf(server.url);
    const stopped = { kind: 'failed', cause: 'stopped', message: 'no answer in time' };
    expect(await probe.get(urls.models, AbortSignal.timeout(50))).toEqual(stopped);
    expect(await probe.get(urls.models, AbortSignal.abort())).toEqual(stopped);
    expect(server.requests).toHaveLength(1);
    await server.stop();
    expect(await probe.get(urls.models, never)).toEqual({
      kind: 'failed',
      cause: 'connection',
      message: `connect ECONNREFUSED 127.0.0.1:${server.port}`,
    });
  });

  it('is over when its stop signal fires', async () => {
    const server = await serve((connection) => connection.closed);
    const { probe, urls } = probeOf(server.url);
    const stop = new AbortController();
    const window = servedWindow({ probe, urls, model: 'm' }, 10_000, stop.signal);
    await expect.poll(() => server.requests.length).toBe(1);
    const started = performance.now();
    stop.abort();
    expect(await window).toBeNull();
    expect(performance.now() - started).toBeLessThan(100);
    await server.peerClosed(0);
    expect(await servedWindow({ probe, urls, model: 'm' }, 10_000, stop.signal)).toBeNull();
    expect(server.requests).toHaveLength(1);
  });
});

it('shared results are kept for a limited number of keys', async () => {
  const asked: string[] = [];
  const find = async (key: string): Promise<string> => {
    asked.push(key);
    return key;
  };
  const results = new SharedResults(find, { lifeMs: () => 1_000, maxKeys: 2, now: () => 0 });
  for (const key of ['a', 'b', 'c', 'b', 'a', 'c']) expect(await results.get(key)).toBe(key);
  expect(asked).toEqual(['a', 'b', 'c', 'a']);
});
