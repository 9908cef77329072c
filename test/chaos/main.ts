import { parseArgs } from 'node:util';
import { buildService, builtIn } from './build-service.js';
import { runChaos } from './chaos.js';

/** `npm run chaos -- --seconds 120 --seed 7`: prints its figures, and ends with 1 when something is wrong. */
async function main(): Promise<void> {
  const { values } = parseArgs({
    options: {
      service: { type: 'string' },
      seconds: { type: 'string', default: '120' },
      seed: { type: 'string', default: String(Date.now() % 1_000_000) },
      clients: { type: 'string', default: '8' },
    },
  });
  const seed = Number(values.seed);
  const tell = (line: string): void => {
    process.stdout.write(`${line}\n`);
  };
  const started = performance.now();
  tell(`Seed ${seed}. The service is compiled`);
  const service = values.service === undefined ? buildService() : builtIn(values.service);
  try {
    const { figures, faults } = await runChaos({
      seed,
      seconds: Number(values.seconds),
      nodes: 3,
      clients: Number(values.clients),
      mostOperations: Number.POSITIVE_INFINITY,
      leaseMs: 2_500,
      patienceMs: 25_000,
      faultsEveryMs: [1_500, 5_000],
      service,
      tell,
    });
    for (const line of figures.lines()) tell(line);
    tell(`Took ${Math.round((performance.now() - started) / 1_000)} s`);
    if (faults.length === 0) return tell('Nothing is wrong');
    tell(`Seed ${seed}: ${faults.length} things are wrong`);
    for (const fault of faults.slice(0, 100)) tell(`  ${fault}`);
    process.exitCode = 1;
  } finally {
    service.remove();
  }
}

await main();
