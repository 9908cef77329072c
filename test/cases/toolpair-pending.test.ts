import { describe, expect, it } from 'vitest';
import type { ChatMessage } from '../../src/compaction/measure.js';
import { assistant, calls, result, user } from '../support/messages.js';
import { startModelStub } from '../support/model-stub.js';
import { modelAt, startService } from '../support/service.js';
import { strictViolation } from '../support/strict.js';
import { append, callOf, quoted, startWithModel, stateOf, summaryOf, transcriptOf } from './expected.js';

describe('a tool call that waits for its result', () => {
  it('stays in the context, and the late result finds it', async () => {
    const { service } = await startWithModel();
    const waiting = callOf('c9', 'ask_approval', '{}');
    const id = await service.session([user(3_000), assistant(3_000), user(100), waiting], {
      compactCount: 99,
    });

    expect((await service.compact(id)).body.newSize).toBe(3);
    await append(service, id, result('c9', 'approved'));

    const view = await service.view(id);
    expect(view).toEqual([summaryOf('S1'), waiting, result('c9', 'approved')]);
    expect(strictViolation(view)).toBeNull();
  });

  it('stays even when its own arguments cross the line', async () => {
    const { service } = await startWithModel();
    const waiting = callOf('c9', 'ask_approval', JSON.stringify({ text: 'x'.repeat(5_000) }));
    const id = await service.session([user(1_000), waiting], { compactCount: 99 });

    expect((await service.compact(id)).body).toMatchObject({ compactedCount: 1, newSize: 1 });
    expect(await service.view(id)).toEqual([summaryOf('S1'), waiting]);
  });

  it('is nothing to fold by itself: the answer says what it waits for, without a model call', async () => {
    const { service, stub } = await startWithModel();
    const id = await service.session([user(100), callOf('c9', 'ask_approval', '{}')], { compactCount: 99 });
    await service.compact(id);
    const before = await stateOf(service, id);

    const { status, body } = await service.compact(id);

    expect({ ...body, status }).toMatchObject({
      status: 200,
      alreadyUpToDate: true,
      compactedCount: 0,
      newSize: 1,
      reason: 'pending_tool_calls',
    });
    expect(stub.prompts).toHaveLength(1);
    expect(await stateOf(service, id)).toEqual(before);
  });

  it('waits on while one of parallel results is missing, and is folded once the last is there', async () => {
    const { service } = await startWithModel();
    const messages = [user(100), calls(['c1', 'c2']), result('c2', 500)];
    const id = await service.session(messages, { compactCount: 99 });
    const sizes = [(await service.compact(id)).body.newSize];
    expect(await service.view(id)).toEqual([summaryOf('S1'), ...messages.slice(1)]);

    await append(service, id, result('c1', 500));
    const answered = await service.view(id);
    expect(answered).toEqual([summaryOf('S1'), ...messages.slice(1), result('c1', 500)]);
    expect(strictViolation(answered)).toBeNull();

    sizes.push((await service.compact(id)).body.newSize);
    expect(sizes).toEqual([1, 4]);
  });
});

describe('a tool call that was never answered', () => {
  const call = calls(['c1']);
  const messages = [user(1_000), call, user(1_000), assistant(1_000), user(200)];

  it('is folded like any other message, in a request that the strictest endpoint takes at once', async () => {
    const bodies: string[] = [];
    const stub = await startModelStub((_prompt, index, { body }) => {
      bodies.push(body);
      const { messages: sent }: { messages: ChatMessage[] } = JSON.parse(body);
      const violation = strictViolation(sent);
      return violation === null
        ? { content: `S${index + 1}` }
        : { status: 400, body: { error: { message: violation } } };
    });
    const service = await startService(modelAt(stub.url));
    const id = await service.session(messages, { compactCount: 60 });

    const { status, body } = await service.compact(id);

    expect({ status, newSize: body.newSize, requests: body.compaction.requests }).toEqual({
      status: 200,
      newSize: 3,
      requests: 1,
    });
    expect(bodies).toHaveLength(1);
    expect(bodies[0]).not.toMatch(/"(tools|tool_calls|tool_call_id|tool_choice)":|"role":"tool"/);
    expect(stub.bodies[0]?.messages.map(({ role }) => role)).toEqual(['user']);
    expect(quoted(stub.prompts[0], 'transcript')).toBe(
      transcriptOf(
        ['user', messages[0]?.content],
        ['assistant calls lookup', '{}'],
        ['user', messages[2]?.content],
      ),
    );
    expect(await service.messages(id)).toEqual(messages);
  });

  it('holds nothing back once another message has come after it', async () => {
    const { service } = await startWithModel();
    const id = await service.session([user(100), call], { compactCount: 99 });
    expect((await service.compact(id, { dryRun: true })).body.newSize).toBe(1);

    await append(service, id, user(10));
    expect((await service.compact(id)).body.newSize).toBe(3);
    expect(await service.view(id)).toHaveLength(2);
  });
});
