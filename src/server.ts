import { pino } from 'pino';
import { ConfigError, loadConfig } from './config.js';
import { createApp } from './create-app.js';

/** The process: reads the configuration, serves, and stops on signals. */
async function main(): Promise<void> {
  const config = loadConfig(process.env);
  const logger = pino({ level: config.logLevel });
  for (const warning of config.warnings) logger.warn(warning);
  if (config.compact === null) {
    logger.warn(
      'NO MODEL IS CONFIGURED: summaries are written by embedded/extractive, which only picks sentences',
    );
  }
  const app = await createApp(config, logger);

  let stopping = false;
  const stop = (signal: NodeJS.Signals) => {
    // A second signal means now.
    if (stopping) process.exit(1);
    stopping = true;
    logger.info({ signal }, 'stopping');
    app.close().then(
      () => logger.info('stopped'),
      (error: unknown) => {
        logger.error({ err: error }, 'could not stop cleanly');
        process.exitCode = 1;
      },
    );
  };
  process.on('SIGTERM', stop);
  process.on('SIGINT', stop);

  await app.listen({ host: config.host, port: config.port });
}

main().catch((error: unknown) => {
  process.stderr.write(
    `${error instanceof ConfigError ? error.message : String(error instanceof Error ? error.stack : error)}\n`,
  );
  process.exitCode = 1;
});
