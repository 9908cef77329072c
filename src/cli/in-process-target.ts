import { pino } from 'pino';
import type { Config } from '../config.js';
import { createApp } from '../create-app.js';
import { parseAnswer, type ServiceTarget } from './service-target.js';

/**
 * The configured database through the same app that serves it, without a port: the same checks, and the same
 * locks when a server has the file open too. Only faults are logged, on stderr.
 */
export async function inProcessTarget(config: Config): Promise<ServiceTarget> {
  const logger = pino({ level: 'error' }, pino.destination({ dest: 2, sync: true }));
  const app = await createApp(config, logger);
  return {
    async send(method, url, json) {
      const response = await app.inject({
        method,
        url,
        ...(json === undefined ? {} : { payload: json, headers: { 'content-type': 'application/json' } }),
      });
      return parseAnswer(response.statusCode, response.body);
    },
    close: async () => {
      await app.close();
    },
  };
}
