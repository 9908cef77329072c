import { describe, expect, it } from 'vitest';
import { SubagentGraph } from '../../src/agents/subagent-graph.js';

/** `{ a: 'b c' }`: a has the subagents b and c. */
function faultsOf(edges: Readonly<Record<string, string>>, name: string): string[] {
  const lists = Object.entries(edges).map(([from, to]) => [from, to.split(' ')] as const);
  const known = new Set(lists.flatMap(([from, to]) => [from, ...to]).filter((each) => each !== 'nobody'));
  return new SubagentGraph(new Map(lists))
    .faultsOf(name, (each) => known.has(each))
    .map(({ pointer, reason }) => `${pointer} ${reason}`);
}

describe('subagents', () => {
  it('may be shared, and go three levels deep', () => {
    const edges = { a: 'b c d', b: 'c d', c: 'd' };
    expect([faultsOf(edges, 'a'), faultsOf(edges, 'b'), faultsOf(edges, 'c')]).toEqual([[], [], []]);
  });

  it('must be there', () => {
    expect(faultsOf({ a: 'b nobody' }, 'a')).toEqual(['/subagents/1 is no agent: nobody']);
  });

  it('make no loop', () => {
    expect(faultsOf({ a: 'a' }, 'a')).toEqual(['/subagents/0 makes a loop: a -> a']);
    expect(faultsOf({ a: 'x b', b: 'c', c: 'a' }, 'a')).toEqual([
      '/subagents/1 makes a loop: a -> b -> c -> a',
    ]);
  });

  const chain = { a: 'b', b: 'c', c: 'd', d: 'e' };
  it.each(['a', 'b', 'c', 'd'])('go no deeper, wherever %s is on the way', (name) => {
    expect(faultsOf(chain, name)).toEqual([
      '/subagents/0 leads more than 3 levels below an agent: a -> b -> c -> d -> e',
    ]);
  });

  it('are measured along the longest way', () => {
    expect(faultsOf({ a: 'e b', b: 'c', c: 'd', d: 'e' }, 'a')).toEqual([
      '/subagents/1 leads more than 3 levels below an agent: a -> b -> c -> d -> e',
    ]);
    expect(faultsOf({ x: 'y', y: 'z', z: 'a', a: 'b', w: 'a' }, 'a')).toEqual([
      '/subagents/0 leads more than 3 levels below an agent: x -> y -> z -> a -> b',
    ]);
  });

  it('are looked at in no time, whatever loops are there already', () => {
    expect(faultsOf({ a: 'b', b: 'c', c: 'b' }, 'a')[0]).toBe(
      '/subagents/0 has a loop on its way: a -> b -> c -> b -> c -> b',
    );
    const layer = (letter: string) => Array.from({ length: 32 }, (_, index) => `${letter}${index}`);
    const names = layer('a').concat(layer('b'), layer('c'));
    const dense = Object.fromEntries(names.map((name) => [name, names.join(' ')]));
    const started = performance.now();
    expect(faultsOf({ ...dense, x: 'a0' }, 'x').length).toBe(1);
    expect(performance.now() - started).toBeLessThan(500);
  });
});
