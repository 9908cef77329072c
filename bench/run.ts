import { append } from './append.js';
import { bigContext } from './big-context.js';
import { chat } from './chat.js';
import { context } from './context.js';
import type { Benchmark } from './lib/benchmark.js';
import { stopAll } from './lib/child-process.js';
import { type ReportRow, table } from './lib/report.js';
import { Workspace } from './lib/workspace.js';
import { memory } from './memory.js';
import { modelClient } from './model-client.js';
import { nodes } from './nodes.js';
import { plan } from './plan.js';
import { responsiveness } from './responsiveness.js';
import { stores } from './stores.js';
import { tokens } from './tokens.js';

/** `npm run bench [name...]`: runs the named benchmarks, or all, and prints one table. Never fails for a slow one. */
const ALL: readonly Benchmark[] = [
  context,
  plan,
  append,
  stores,
  nodes,
  bigContext,
  chat,
  memory,
  responsiveness,
  modelClient,
  tokens,
];

async function main(names: readonly string[]): Promise<void> {
  const unknown = names.filter((name) => !ALL.some((benchmark) => benchmark.name === name));
  if (unknown.length > 0) {
    throw new Error(
      `no benchmark ${unknown.join(', ')}; there are ${ALL.map(({ name }) => name).join(', ')}`,
    );
  }
  const workspace = new Workspace();
  const clear = async () => {
    await stopAll();
    workspace.remove();
  };
  const interrupted = () => void clear().finally(() => process.exit(130));
  process.once('SIGINT', interrupted).once('SIGTERM', interrupted);
  const rows: ReportRow[] = [];
  try {
    for (const benchmark of ALL.filter(({ name }) => names.length === 0 || names.includes(name))) {
      const started = performance.now();
      rows.push(...(await benchmark.run(workspace)));
      const seconds = (performance.now() - started) / 1_000;
      process.stderr.write(`${benchmark.name}: ${seconds.toFixed(1)} s\n`);
    }
  } finally {
    await clear();
  }
  process.stdout.write(`\n${table(rows)}\n`);
}

main(process.argv.slice(2)).catch((error: unknown) => {
  process.stderr.write(`${error instanceof Error ? error.stack : String(error)}\n`);
  process.exitCode = 1;
});
