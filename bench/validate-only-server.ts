import { pino } from 'pino';
import { built } from './lib/built.js';

/**
 * The built service, except that appended messages are answered without being stored: the same plugins,
 * hooks, schemas and routes. What is left out is the session lookup and the write.
 */
const { loadConfig } = await built<typeof import('../src/config.js')>('config.js');
const { createApp } = await built<typeof import('../src/create-app.js')>('create-app.js');
const config = loadConfig(process.env);
const app = await createApp(config, pino({ level: config.logLevel }));
// The route looks `append` up with each request, so that the instance's own takes the place of the class's.
app.services.sessions.append = async (_tenant, _id, messages) => {
  const created_at = Date.now();
  return messages.map((_, seq) => ({
    id: 'msg_01jd8z3k9q2x5w7r1n4t6v0b',
    seq,
    position: seq,
    chars: 300,
    created_at,
  }));
};
process.on('SIGTERM', () => void app.close());
await app.listen({ host: config.host, port: config.port });
