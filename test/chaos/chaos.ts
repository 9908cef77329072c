import { setTimeout as sleep } from 'node:timers/promises';
import { PostgresServer } from '../support/postgres-server.js';
import type { BuiltService } from './build-service.js';
import { checkMessages } from './check-messages.js';
import { checkSessions } from './check-sessions.js';
import { checkTasks } from './check-tasks.js';
import { Client } from './client.js';
import { hurtNodes, restartDatabase } from './faults.js';
import { Figures } from './figures.js';
import { Journal } from './journal.js';
import { runClient } from './load.js';
import { type ChaosModel, startModel } from './model.js';
import { ChaosNode } from './node.js';
import { Random } from './random.js';
import { defineAgents, variablesFor } from './setting.js';
import { leaseFaults, newLifeFaults, tasksLeave } from './settle-down.js';
import { Places, readSessions, rowsOf } from './stored.js';

export interface ChaosSettings {
  readonly seed: number;
  readonly seconds: number;
  readonly nodes: number;
  readonly clients: number;
  /** Of each client. */
  readonly mostOperations: number;
  readonly leaseMs: number;
  /** How long a client repeats a request, and looks after a task. */
  readonly patienceMs: number;
  /** Between two faults, in ms. */
  readonly faultsEveryMs: readonly [least: number, most: number];
  readonly service: BuiltService;
  readonly tell: (line: string) => void;
}

export interface ChaosReport {
  readonly figures: Figures;
  /** What is wrong, errors in the logs included; nothing, as it should be. */
  readonly faults: readonly string[];
}

const LASTING = ['lasting-0', 'lasting-1', 'lasting-2'];
const EMPTIED = ['emptied-0', 'emptied-1'];

/** A run: nodes on one database under random load while they are hurt, and then a look at what is there. */
export async function runChaos(settings: ChaosSettings): Promise<ChaosReport> {
  const { seed, leaseMs, service } = settings;
  const random = new Random(seed);
  const figures = new Figures();
  const server = await PostgresServer.create();
  const model = await startModel(random.fork(), figures);
  const variables = variablesFor(server.url(), model.url, leaseMs);
  const nodes = Array.from(
    { length: settings.nodes },
    (_, index) => new ChaosNode(`node ${index}`, service.folder, variables),
  );
  try {
    await Promise.all(nodes.map((node) => node.start()));
    const faults = await underLoad({ settings, random, figures, server, model, nodes });
    return { figures, faults: [...faults, ...nodes.flatMap(({ errors }) => errors)] };
  } finally {
    await Promise.all(nodes.map((node) => node.end('SIGKILL')));
    await model.stop();
    await server.remove();
  }
}

interface Running {
  readonly settings: ChaosSettings;
  readonly random: Random;
  readonly figures: Figures;
  readonly server: PostgresServer;
  readonly model: ChaosModel;
  readonly nodes: readonly ChaosNode[];
}

async function underLoad({ settings, random, figures, server, model, nodes }: Running): Promise<string[]> {
  const { seconds, leaseMs, tell } = settings;
  const faults: string[] = [];
  const journal = new Journal();
  const { patienceMs } = settings;
  const newClient = () => new Client(nodes, { random: random.fork(), figures, faults, patienceMs });
  const client = newClient();
  await defineAgents(client, [...LASTING, ...EMPTIED]);

  tell(`${settings.nodes} nodes, ${settings.clients} clients, ${seconds} s`);
  const until = performance.now() + seconds * 1_000;
  const shared = { journal, figures, faults, lasting: LASTING, emptied: EMPTIED, patienceMs };
  const hurting = { nodes, random: random.fork(), figures, leaseMs, everyMs: settings.faultsEveryMs };
  const loads = Array.from({ length: settings.clients }, () => ({
    ...shared,
    client: newClient(),
    random: random.fork(),
  }));
  const away = restartDatabase(server, { random: random.fork(), figures }, seconds * 500);
  await Promise.all([
    away,
    hurtNodes(hurting, until),
    ...loads.map((load) => runClient(load, until, settings.mostOperations)),
  ]);

  tell('The load is over: the leases run out');
  model.calm();
  await sleep(leaseMs + 500);
  const url = server.url();
  await tasksLeave(url, ['running'], 10_000);
  await tasksLeave(url, ['queued', 'running'], 5_000);
  // Nothing but what waits for answers may be left of it: tasks that run again have leases, and end.
  await tasksLeave(url, ['running'], 10_000);
  faults.push(...(await leaseFaults(url)));
  tell('What is stored is looked at');
  const look = async () => {
    const sessions = await readSessions(url, client);
    const places = new Places(sessions);
    faults.push(
      ...checkSessions(sessions, model.calls, figures),
      ...checkMessages(journal, sessions, places),
    );
    return { sessions, places };
  };
  await look();
  faults.push(...(await newLifeFaults(url, client)));
  const { sessions, places } = await look();
  faults.push(
    ...(await checkTasks({ journal, client, databaseUrl: url, places, calls: model.calls, figures })),
  );
  faults.push(...model.faults);
  figures.count('stored', 'sessions', sessions.length);
  figures.count(
    'stored',
    'messages',
    sessions.reduce((sum, { messages }) => sum + messages.length, 0),
  );
  for (const { outcome, count } of await rowsOf<{ outcome: string; count: number }>(
    url,
    `SELECT trigger || ' ' || outcome || coalesce(' ' || error_code, '') AS outcome, count(*)::int AS count
     FROM compactions GROUP BY 1`,
  ))
    figures.count('compactions', outcome, count);
  return [...new Set(faults)];
}
