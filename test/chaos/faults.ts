import { setTimeout as sleep } from 'node:timers/promises';
import type { PostgresServer } from '../support/postgres-server.js';
import type { Figures } from './figures.js';
import type { ChaosNode } from './node.js';
import type { Random } from './random.js';

export interface FaultSettings {
  readonly nodes: readonly ChaosNode[];
  readonly random: Random;
  readonly figures: Figures;
  readonly leaseMs: number;
  /** Between two faults, in ms. */
  readonly everyMs: readonly [least: number, most: number];
}

/**
 * Kills, pauses and stops nodes until the time is over. One node at least is left alone at any time; which have been
 * hurt at the end are well again when this returns.
 */
export async function hurtNodes(settings: FaultSettings, until: number): Promise<void> {
  const { nodes, random, figures, leaseMs, everyMs } = settings;
  const healing = new Set<Promise<void>>();
  while (performance.now() < until) {
    await sleep(Math.min(random.int(...everyMs), Math.max(0, until - performance.now())));
    const well = nodes.filter((node) => node.isWell);
    if (well.length < 2) continue;
    const node = random.pick(well);
    const what = random.weighted({ kill: 50, pause: 40, stop: 10 });
    figures.count('faults', what === 'kill' ? 'SIGKILL' : what === 'stop' ? 'SIGTERM' : 'SIGSTOP, SIGCONT');
    const healed = (async () => {
      // Some pauses are shorter than a lease, and nobody may notice.
      if (what === 'pause') return node.pause(random.int(leaseMs / 2, leaseMs * 2));
      await node.end(what === 'kill' ? 'SIGKILL' : 'SIGTERM');
      await sleep(random.int(0, 1_500));
      await node.start();
    })();
    healing.add(healed);
    void healed.finally(() => healing.delete(healed)).catch(() => {});
  }
  await Promise.all(healing);
}

/** Stops the database and starts it again, after this time. */
export async function restartDatabase(
  server: PostgresServer,
  { random, figures }: Pick<FaultSettings, 'random' | 'figures'>,
  afterMs: number,
): Promise<void> {
  await sleep(afterMs);
  const started = performance.now();
  await server.stop();
  await sleep(random.int(300, 2_500));
  await server.start();
  figures.count('faults', 'database restart');
  figures.took('database away', performance.now() - started);
  figures.count('database away', 'times');
}
