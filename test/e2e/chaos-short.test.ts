import { expect, it } from 'vitest';
import { builtIn } from '../chaos/build-service.js';
import { runChaos } from '../chaos/chaos.js';

/** A little of what `npm run chaos` does for minutes; see docs/scaling.md. */
it('a few clients of two nodes find all they stored, once, after kills and a restart of the database', {
  timeout: 240_000,
}, async () => {
  const { figures, faults } = await runChaos({
    seed: 20,
    seconds: 10,
    nodes: 2,
    clients: 4,
    mostOperations: 20,
    leaseMs: 2_000,
    patienceMs: 10_000,
    faultsEveryMs: [1_500, 3_000],
    service: builtIn(),
    tell: () => {},
  });
  expect(faults).toEqual([]);
  expect(figures.of('faults', 'database restart')).toBe(1);
  expect(figures.total('operations')).toBeGreaterThan(8);
  expect(figures.of('checked', 'contexts of replies')).toBeGreaterThan(0);
});
