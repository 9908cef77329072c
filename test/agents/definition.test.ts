import { describe, expect, it } from 'vitest';
import { systemPromptOf, withName } from '../../src/agents/definition.js';
import { checkDefinition } from '../../src/agents/definition-faults.js';

const tool = (name: string, more: object = {}) => ({ type: 'function', function: { name, ...more } });
const faultsOf = (value: unknown) => {
  const checked = checkDefinition(value);
  return 'faults' in checked ? checked.faults.map(({ pointer, reason }) => `${pointer} ${reason}`) : [];
};

const FULL = {
  name: 'ferry-clerk',
  description: 'Books ferries',
  model: 'gpt-4.1',
  systemPrompt: 'You book ferries.',
  temperature: 0,
  maxTokens: 500,
  tools: [
    tool('find_ferry', { description: 'd', strict: true, parameters: { type: 'object', 'x-any': [null] } }),
  ],
  subagents: ['guide'],
  maxSteps: 1_000,
  daemon: { prompt: 'Look.', everySeconds: 31 * 86_400 },
  defaultCompaction: {
    compactionCount: 33.333333,
    instructions: 'short',
    keepRecent: 0,
    model: 'small',
    auto: { maxTokens: 1, maxShare: 1 },
  },
};

describe('a definition', () => {
  it.each([
    ['every field', FULL],
    ['no field at all', {}],
    [
      'one limit of automatic compaction',
      { defaultCompaction: { compactionCount: 1, auto: { maxShare: 0.01 } } },
    ],
    ['128 tools', { tools: Array.from({ length: 128 }, (_, index) => tool(`t${index}`)) }],
    ['32 subagents', { subagents: Array.from({ length: 32 }, (_, index) => `s${index}`) }],
    ['a system prompt of 200,000 chars', { systemPrompt: 'x'.repeat(200_000) }],
    ['a name of 64 chars', { name: 'x'.repeat(64) }],
  ])('may have %s', (_, definition) => {
    expect(checkDefinition(definition)).toEqual({ definition });
  });

  it.each<[string, object, string]>([
    ['at the top', { prompt: 'x' }, '/prompt'],
    ['in a tool', { tools: [{ ...tool('t'), more: 1 }] }, '/tools/0/more'],
    ['in a function', { tools: [tool('t', { returns: {} })] }, '/tools/0/function/returns'],
    ['in daemon', { daemon: { prompt: 'x', every: 1 } }, '/daemon/every'],
    ['in defaultCompaction', { defaultCompaction: { compactionCount: 50, x: 1 } }, '/defaultCompaction/x'],
    [
      'in auto',
      { defaultCompaction: { compactionCount: 50, auto: { maxTokens: 1, 'a/b~': 1 } } },
      '/defaultCompaction/auto/a~1b~0',
    ],
    ['that means something to JavaScript', JSON.parse('{"__proto__":{}}'), '/__proto__'],
  ])('is closed: an unknown field %s is an error', (_, definition, pointer) => {
    expect(faultsOf(definition)).toEqual([`${pointer} is not a known field`]);
  });

  it.each<[unknown, readonly string[]]>([
    [null, ['']],
    [[], ['']],
    ['x', ['']],
    [{ name: 'a b' }, ['/name']],
    [{ name: '' }, ['/name']],
    [{ name: 'x'.repeat(65) }, ['/name']],
    [{ name: 'a\n' }, ['/name']],
    [{ description: 'x'.repeat(4_001) }, ['/description']],
    [{ description: null }, ['/description']],
    [{ model: '' }, ['/model']],
    [{ systemPrompt: 'x'.repeat(200_001) }, ['/systemPrompt']],
    [{ temperature: 2.1 }, ['/temperature']],
    [{ temperature: -0.1 }, ['/temperature']],
    [{ temperature: '1' }, ['/temperature']],
    [{ maxTokens: 0 }, ['/maxTokens']],
    [{ maxTokens: 1.5 }, ['/maxTokens']],
    [{ maxSteps: 0 }, ['/maxSteps']],
    [{ maxSteps: 1_001 }, ['/maxSteps']],
    [{ tools: Array.from({ length: 129 }, (_, index) => tool(`t${index}`)) }, ['/tools']],
    [{ tools: [{ type: 'web', function: { name: 't' } }] }, ['/tools/0/type']],
    [{ tools: [{ type: 'function' }] }, ['/tools/0/function']],
    [{ tools: [tool('a b')] }, ['/tools/0/function/name']],
    [{ tools: [tool('t', { parameters: [] })] }, ['/tools/0/function/parameters']],
    [{ tools: [tool('t', { strict: null })] }, ['/tools/0/function/strict']],
    [{ tools: [tool('t'), tool('u'), tool('t')] }, ['/tools/2/function/name']],
    [{ tools: [tool('guide')], subagents: ['guide'] }, ['/tools/0/function/name']],
    [{ subagents: Array.from({ length: 33 }, (_, index) => `s${index}`) }, ['/subagents']],
    [{ subagents: ['a', 'b', 'a'] }, ['/subagents/2']],
    [{ subagents: ['a/b'] }, ['/subagents/0']],
    [{ daemon: {} }, ['/daemon/prompt']],
    [{ daemon: { prompt: ' \n' } }, ['/daemon/prompt']],
    [{ daemon: { prompt: 'x', everySeconds: 0 } }, ['/daemon/everySeconds']],
    [{ daemon: { prompt: 'x', everySeconds: 31 * 86_400 + 1 } }, ['/daemon/everySeconds']],
    [{ defaultCompaction: {} }, ['/defaultCompaction/compactionCount']],
    [{ defaultCompaction: { compactionCount: 100 } }, ['/defaultCompaction/compactionCount']],
    [{ defaultCompaction: { compactionCount: 0.5 } }, ['/defaultCompaction/compactionCount']],
    [{ defaultCompaction: { compactionCount: 33.3333333 } }, ['/defaultCompaction/compactionCount']],
    [
      { defaultCompaction: { compactionCount: 50, instructions: 'x'.repeat(4_001) } },
      ['/defaultCompaction/instructions'],
    ],
    [{ defaultCompaction: { compactionCount: 50, keepRecent: -1 } }, ['/defaultCompaction/keepRecent']],
    [{ defaultCompaction: { compactionCount: 50, model: '' } }, ['/defaultCompaction/model']],
    [{ defaultCompaction: { compactionCount: 50, auto: {} } }, ['/defaultCompaction/auto']],
    [
      { defaultCompaction: { compactionCount: 50, auto: { maxTokens: 0 } } },
      ['/defaultCompaction/auto/maxTokens'],
    ],
    [
      { defaultCompaction: { compactionCount: 50, auto: { maxShare: 0 } } },
      ['/defaultCompaction/auto/maxShare'],
    ],
    [
      { defaultCompaction: { compactionCount: 50, auto: { maxShare: 1.1 } } },
      ['/defaultCompaction/auto/maxShare'],
    ],
    [{ temperature: 3, maxTokens: 0 }, ['/temperature', '/maxTokens']],
  ])('must not be %j', (definition, pointers) => {
    expect(faultsOf(definition).map((fault) => fault.split(' ')[0])).toEqual(pointers);
  });

  it.each<[object, string]>([
    [{ systemPrompt: 'a\u0000' }, '/systemPrompt must not hold U+0000'],
    [{ systemPrompt: 'a\ud83d' }, '/systemPrompt must not hold half of a surrogate pair'],
    [
      { tools: [tool('t', { parameters: { enum: ['\u0000'] } })] },
      '/tools/0/function/parameters/enum/0 must not hold U+0000',
    ],
    [
      { tools: [tool('t', { parameters: { '\udc00': 1 } })] },
      '/tools/0/function/parameters has a field whose name must not hold half of a surrogate pair',
    ],
    [
      { tools: [tool('t', { parameters: JSON.parse('{"maximum":1e400}') })] },
      '/tools/0/function/parameters/maximum is out of range',
    ],
  ])('holds no text or number that could not be stored and sent as it is: %j', (definition, fault) => {
    expect(faultsOf(definition)).toEqual([fault]);
  });

  it('is nested as deep as a request may be', () => {
    const nested = (levels: number): object => {
      let value: object = {};
      // The definition, the list of tools, the tool and its function are four more.
      for (let level = 5; level < levels; level += 1) value = { a: value };
      return { tools: [tool('t', { parameters: value })] };
    };
    expect(faultsOf(nested(64))).toEqual([]);
    expect(faultsOf(nested(65))[0]).toMatch(/\/parameters(\/a){60} is nested more than 64 levels deep$/);
  });

  it('says its name first, and the rest in its own order', () => {
    const given = { maxSteps: 3, description: 'd' };
    expect(JSON.stringify(withName(given, 'a'))).toBe('{"name":"a","maxSteps":3,"description":"d"}');
  });

  it('without a prompt, or with a blank one, begins contexts with nothing', () => {
    const promptOf = (systemPrompt: string) => systemPromptOf({ name: 'a', systemPrompt });
    expect([systemPromptOf({ name: 'a' }), promptOf(''), promptOf(' \n'), promptOf(' p ')]).toEqual([
      null,
      null,
      null,
      ' p ',
    ]);
  });
});
