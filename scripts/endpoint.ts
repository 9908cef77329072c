import { startExampleEndpoint } from './example-endpoint.js';

/** `npm run endpoint`: the example endpoint on port 5051, to try agents without a model. */

const PORT = 5051;
/** Slow enough to be seen while it comes. */
const PIECE_MS = 20;

try {
  const endpoint = await startExampleEndpoint(PORT, PIECE_MS);
  process.stdout.write(
    `The example endpoint is at ${endpoint.url}. In another terminal:\n\n` +
      `  MAIN_MODEL=example OPENAI_BASE_URL=${endpoint.url} AGENTS_DIR=examples/agents npm start\n\n`,
  );
  for (const signal of ['SIGHUP', 'SIGINT', 'SIGTERM'] as const) {
    process.once(signal, () => void endpoint.stop().finally(() => process.exit(0)));
  }
} catch (error) {
  process.stderr.write(`endpoint: ${error instanceof Error ? error.message : String(error)}\n`);
  process.exitCode = 1;
}
