import { describe, expect, it } from 'vitest';
import { cleanForWire } from '../../../src/llm/wire/clean-for-wire.js';
import { WireMemory } from '../../../src/llm/wire/wire-memory.js';
import { assistant, system, user } from '../../support/messages.js';

const ALTERNATE = 'Conversation roles must alternate user/assistant/user/assistant/...';
const SYSTEM_FIRST = 'System message must be at the beginning.';

describe('what endpoints have been found to want', () => {
  it('is what is configured, at first', () => {
    expect(new WireMemory({ dropName: true }).optionsFor('a')).toEqual({ dropName: true });
    expect(new WireMemory().optionsFor('a')).toEqual({});
  });

  it('is learned from a refusal, once, for one key, beside what is configured', () => {
    const memory = new WireMemory({ dropName: true });
    expect(memory.learn('a', SYSTEM_FIRST)).toBe(true);
    expect(memory.learn('a', SYSTEM_FIRST)).toBe(false);
    expect(memory.optionsFor('a')).toEqual({ dropName: true, singleSystem: true });
    expect(memory.optionsFor('b')).toEqual({ dropName: true });
  });

  it('adds up', () => {
    const memory = new WireMemory();
    memory.learn('a', SYSTEM_FIRST);
    expect(memory.learn('a', "property 'name' is unsupported")).toBe(true);
    expect(memory.optionsFor('a')).toEqual({ singleSystem: true, dropName: true });
  });

  it('is not learned from a refusal about something else, nor when it is configured', () => {
    const memory = new WireMemory({ singleSystem: true });
    expect(memory.learn('a', 'The model does not exist')).toBe(false);
    expect(memory.learn('a', SYSTEM_FIRST)).toBe(false);
    expect(memory.optionsFor('a')).toEqual({ singleSystem: true });
  });

  it('goes on to the next step when the first did not help', () => {
    const memory = new WireMemory();
    const list = [system('s'), user('a'), user('b'), assistant('c'), user('d')];
    expect([1, 2, 3].map(() => memory.learn('a', ALTERNATE))).toEqual([true, true, false]);
    const sent = cleanForWire(list, memory.optionsFor('a'));
    expect(sent).toEqual([user('s\n\na\n\nb'), assistant('c'), user('d')]);
  });

  it('turns off what is configured and refused, and then stays', () => {
    const memory = new WireMemory({ stripReasoning: true });
    expect(memory.learn('a', 'reasoning_content must be passed back to the API')).toBe(true);
    expect(memory.optionsFor('a')).toEqual({ stripReasoning: false });
    expect(memory.learn('a', "property 'reasoning_content' is unsupported")).toBe(false);
    expect(memory.optionsFor('a')).toEqual({ stripReasoning: false });
    expect(memory.learn('a', `property 'reasoning_content' is unsupported. ${SYSTEM_FIRST}`)).toBe(true);
    expect(memory.optionsFor('a')).toEqual({ stripReasoning: false, singleSystem: true });
  });

  it('is forgotten for the key that was unused longest, beyond the limit', () => {
    const memory = new WireMemory({}, 2);
    for (const key of ['a', 'b']) memory.learn(key, SYSTEM_FIRST);
    memory.optionsFor('a');
    memory.learn('c', SYSTEM_FIRST);
    expect(['a', 'b', 'c'].map((key) => memory.optionsFor(key))).toEqual([
      { singleSystem: true },
      {},
      { singleSystem: true },
    ]);
  });

  it('takes no room for keys about which nothing was learned', () => {
    const memory = new WireMemory({}, 1);
    memory.learn('a', SYSTEM_FIRST);
    memory.learn('b', 'The model does not exist');
    memory.optionsFor('c');
    expect(memory.optionsFor('a')).toEqual({ singleSystem: true });
  });
});
