import { describe, expect, it } from 'vitest';
import { startModelStub } from '../support/model-stub.js';
import { modelAt, startService } from '../support/service.js';

describe('a chat turn', () => {
  it('stores the message and the answer', async () => {
    const stub = await startModelStub(() => ({ content: 'Berth 12 is free.' }));
    const service = await startService(modelAt(stub.url, { MAIN_MODEL: 'stub-1' }));
    await service.call('PUT', '/agents/clerk', { systemPrompt: 'You sell tickets.' });
    const answer = await service.call('POST', '/agents/clerk/chat', { message: 'Two berths, please.' });
    expect(answer.body).toEqual({
      sessionId: expect.stringMatching(/^sess_/),
      status: 'completed',
      message: { role: 'assistant', content: 'Berth 12 is free.' },
      finishReason: 'stop',
      usage: { inputTokens: 100, outputTokens: 10 },
    });
    expect(answer.status).toBe(200);
    expect(stub.bodies[0]?.messages).toEqual([
      { role: 'system', content: 'You sell tickets.' },
      { role: 'user', content: 'Two berths, please.' },
    ]);
    expect(await service.messages(answer.body.sessionId)).toEqual([
      { role: 'user', content: 'Two berths, please.' },
      { role: 'assistant', content: 'Berth 12 is free.' },
    ]);
  });
});
