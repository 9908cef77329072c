import { join } from 'node:path';
import { expect, it } from 'vitest';
import { type StubReply, startModelStub } from '../support/model-stub.js';
import { startProcess } from '../support/process.js';
import { temporaryFolder } from '../support/service.js';
import { fillBody, fillParameter, openSwagger, type SwaggerPage } from './swagger-page.js';

const CALL = {
  id: 'call_1',
  type: 'function',
  function: { name: 'find_ferry', arguments: '{"to":"Oslo","day":"2026-12-14"}' },
};

/** Answers tool results and short questions; looks something up for what sounds like work. */
function reply(prompt: string): StubReply {
  if (prompt.startsWith('18:30')) return { content: 'The 18:30 ferry on the 14th is the cheapest.' };
  if (prompt.startsWith('Find'))
    return { content: null, finish: 'tool_calls', message: { tool_calls: [CALL] } };
  return { content: 'Berths 12 and 14 are free.' };
}

const asAgent = (block: Parameters<typeof fillParameter>[0]) => fillParameter(block, 'name', 'ferry-clerk');

/** Executes getTask again and again until it shows the status. */
async function untilTask({ execute, page }: SwaggerPage, id: string, status: string): Promise<string> {
  for (let attempt = 0; attempt < 50; attempt += 1) {
    const { body } = await execute('getTask', (block) => fillParameter(block, 'id', id));
    if (body.includes(`"status": "${status}"`)) return body;
    await page.waitForTimeout(100);
  }
  throw new Error(`The task ${id} did not become ${status}`);
}

it('Swagger UI drives a chat, a task and its resume by hand', async () => {
  const stub = await startModelStub(reply);
  const service = await startProcess({
    DATABASE_URL: `file:${join(temporaryFolder(), 'compactd.db')}`,
    OPENAI_BASE_URL: stub.url,
    MAIN_MODEL: 'stub-1',
    MAIN_RETRIES: '0',
    WINDOW_DISCOVERY: 'off',
  });
  const swagger = await openSwagger(service.url);
  const { execute } = swagger;

  expect((await execute('putAgent', asAgent)).status).toBe('201');
  const chat = await execute('chat', asAgent);
  expect(chat.status).toBe('200');
  expect(JSON.parse(chat.body)).toMatchObject({
    status: 'completed',
    message: { role: 'assistant', content: 'Berths 12 and 14 are free.' },
  });
  const { sessionId }: { sessionId: string } = JSON.parse(chat.body);
  const again = await execute('chat', (block) => fillBody(block, { sessionId, message: 'And on the 13th?' }));
  expect(JSON.parse(again.body)).toMatchObject({ sessionId, status: 'completed' });

  const created = await execute('createTask', asAgent);
  expect(created.status).toBe('202');
  const { id }: { id: string } = JSON.parse(created.body);
  expect(JSON.parse(await untilTask(swagger, id, 'waiting'))).toMatchObject({ tool_calls: [CALL] });
  const resumed = await execute('resumeTask', async (block) => {
    await fillParameter(block, 'id', id);
    await fillBody(block, {
      toolResults: [{ toolCallId: 'call_1', content: '18:30, EUR 296; 22:00, EUR 344' }],
    });
  });
  expect(resumed.status).toBe('202');
  expect(JSON.parse(await untilTask(swagger, id, 'completed'))).toMatchObject({
    result: { role: 'assistant', content: 'The 18:30 ferry on the 14th is the cheapest.' },
    tool_calls: null,
  });
  expect(stub.bodies).toHaveLength(4);
  expect(swagger.broken).toEqual([]);
});
