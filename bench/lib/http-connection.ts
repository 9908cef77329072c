import { connect, type Socket } from 'node:net';

export interface HttpAnswer {
  readonly status: number;
  /** Length of the body, in bytes. */
  readonly bytes: number;
  /** The pieces of the body as they came. */
  readonly body: readonly Buffer[];
}

interface Pending {
  resolve(answer: HttpAnswer): void;
  reject(error: Error): void;
}

/**
 * One keep-alive connection to 127.0.0.1 for one request at a time, with as little work per answer as
 * possible: client and server share the machine. Understands answers with a content-length only.
 */
export class HttpConnection {
  readonly #socket: Socket;
  #pending: Pending | null = null;
  #head: Buffer = Buffer.alloc(0);
  #status = 0;
  #bytes = 0;
  /** Bytes of the body still to come; -1 while the head is not complete. */
  #missing = -1;
  #body: Buffer[] = [];

  private constructor(socket: Socket) {
    this.#socket = socket;
    socket.on('data', (chunk) => this.#receive(chunk));
    socket.on('error', (error) => this.#fail(error));
    socket.on('close', () => this.#fail(new Error('the connection was closed')));
  }

  static open(port: number): Promise<HttpConnection> {
    return new Promise((resolve, reject) => {
      const socket = connect({ port, host: '127.0.0.1', noDelay: true });
      socket.once('error', reject);
      socket.once('connect', () => {
        socket.off('error', reject);
        resolve(new HttpConnection(socket));
      });
    });
  }

  /** @param request as made by `requestBytes` */
  send(request: Buffer): Promise<HttpAnswer> {
    return new Promise((resolve, reject) => {
      this.#pending = { resolve, reject };
      this.#socket.write(request);
    });
  }

  /** Closes at once; a request under way fails. */
  close(): void {
    this.#socket.destroy();
  }

  #receive(chunk: Buffer): void {
    if (this.#missing >= 0) {
      this.#take(chunk);
      return;
    }
    this.#head = this.#head.length === 0 ? chunk : Buffer.concat([this.#head, chunk]);
    const end = this.#head.indexOf('\r\n\r\n');
    if (end < 0) return;
    const head = this.#head.toString('latin1', 0, end);
    this.#status = Number(head.slice(9, 12));
    this.#bytes = Number(/\r\ncontent-length: *(\d+)/i.exec(head)?.[1] ?? Number.NaN);
    if (Number.isNaN(this.#bytes)) {
      this.#fail(new Error('an answer came without a content-length'));
      return;
    }
    this.#missing = this.#bytes;
    this.#take(this.#head.subarray(end + 4));
  }

  #take(chunk: Buffer): void {
    this.#body.push(chunk);
    this.#missing -= chunk.length;
    if (this.#missing > 0) return;
    const answer = { status: this.#status, bytes: this.#bytes, body: this.#body };
    this.#head = Buffer.alloc(0);
    this.#missing = -1;
    this.#body = [];
    const pending = this.#pending;
    this.#pending = null;
    pending?.resolve(answer);
  }

  #fail(error: Error): void {
    this.#pending?.reject(error);
    this.#pending = null;
  }
}

/** A request on the wire; `body` is sent as JSON. */
export function requestBytes(method: 'GET' | 'POST', path: string, body?: object): Buffer {
  const text = body === undefined ? '' : JSON.stringify(body);
  const type =
    body === undefined
      ? ''
      : `content-type: application/json\r\ncontent-length: ${Buffer.byteLength(text)}\r\n`;
  return Buffer.from(`${method} ${path} HTTP/1.1\r\nhost: 127.0.0.1\r\n${type}\r\n${text}`);
}

/** Sends one request and expects a 2xx; anything else throws, with the answer's text. */
export async function sendOk(connection: HttpConnection, request: Buffer): Promise<HttpAnswer> {
  const answer = await connection.send(request);
  if (answer.status < 200 || answer.status > 299) {
    throw new Error(`answer ${answer.status}: ${Buffer.concat(answer.body).toString('utf8', 0, 500)}`);
  }
  return answer;
}
