import { createServer } from 'node:http';

/** Plain node:http that answers every path but `/livez` with the body that it found at SOURCE_URL. */
const { PORT, SOURCE_URL } = process.env;
if (PORT === undefined || SOURCE_URL === undefined) throw new Error('PORT and SOURCE_URL are needed');
const body = Buffer.from(await (await fetch(SOURCE_URL)).arrayBuffer());
const alive = Buffer.from('{"status":"ok"}');

const server = createServer((request, response) => {
  const answer = request.url === '/livez' ? alive : body;
  response.writeHead(200, {
    'content-type': 'application/json; charset=utf-8',
    'content-length': answer.length,
  });
  response.end(answer);
});
process.on('SIGTERM', () => server.close());
server.listen(Number(PORT), '127.0.0.1');
