import { createServer } from 'node:http';

/** Characters per event, about what a few tokens come to. */
const PIECE = 16;
/** Words and a few characters of two and more bytes. */
const TEXT = 'The ferry leaves at nine; berths 12 and 14 are booked, the café opens at ½ past. ';

/** Streams a reply with as many chars as the model's name says. Everything is built once, so that it costs little. */
const replies = new Map<string, Buffer>();

createServer((request, response) => {
  if (request.url === '/livez') {
    response.end();
    return;
  }
  const pieces: Buffer[] = [];
  request.on('data', (chunk: Buffer) => pieces.push(chunk));
  request.on('end', () => {
    const { model }: { model: string } = JSON.parse(Buffer.concat(pieces).toString());
    const reply = replies.get(model) ?? replyOf(Number(model));
    replies.set(model, reply);
    response.writeHead(200, { 'content-type': 'text/event-stream' });
    response.end(reply);
  });
}).listen(Number(process.env['PORT']), '127.0.0.1');

function replyOf(chars: number): Buffer {
  const text = TEXT.repeat(Math.ceil(chars / TEXT.length)).slice(0, chars);
  const base = { id: 'chatcmpl-1', object: 'chat.completion.chunk', created: 1_700_000_000, model: 'bench' };
  const event = (choices: object[], more = {}) =>
    `data: ${JSON.stringify({ ...base, choices, ...more })}\n\n`;
  const events = [event([{ index: 0, delta: { role: 'assistant', content: '' }, finish_reason: null }])];
  for (let at = 0; at < chars; at += PIECE) {
    events.push(event([{ index: 0, delta: { content: text.slice(at, at + PIECE) }, finish_reason: null }]));
  }
  events.push(event([{ index: 0, delta: {}, finish_reason: 'stop' }]));
  events.push(event([], { usage: { prompt_tokens: 10, completion_tokens: 20, total_tokens: 30 } }));
  events.push('data: [DONE]\n\n');
  return Buffer.from(events.join(''));
}
