import { startExampleEndpoint } from './example-endpoint.js';

/** `npm run endpoint`: the example endpoint on port 5051, to try agents without a model. */

const PORT = 5051;

const endpoint = await startExampleEndpoint(PORT);
process.stdout.write(
  `The example endpoint is at ${endpoint.url}. In another terminal:\n\n` +
    `  MAIN_MODEL=example OPENAI_BASE_URL=${endpoint.url} npm start\n\n`,
);
for (const signal of ['SIGHUP', 'SIGINT', 'SIGTERM'] as const) {
  process.once(signal, () => void endpoint.stop().finally(() => process.exit(0)));
}
