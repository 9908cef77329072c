/** What a service answered; `body` is parsed JSON, or null without a body. */
export interface Answer {
  readonly status: number;
  readonly body: unknown;
}

export type Method = 'GET' | 'POST' | 'DELETE';

/** A compactd service, wherever it runs. */
export interface ServiceTarget {
  /**
   * @param path from the service's root, with a leading slash
   * @param json the request body as JSON text, sent as it is
   * @throws ServiceGone when there is no answer
   */
  send(method: Method, path: string, json?: string): Promise<Answer>;
  close(): Promise<void>;
}

/** There was no answer: nobody listens, or the connection broke. What was asked may or may not be done. */
export class ServiceGone extends Error {
  override readonly name = 'ServiceGone';
}

/** A member of an answer's body, if it is an object that has it. */
export function field(body: unknown, name: string): unknown {
  if (typeof body !== 'object' || body === null) return undefined;
  return new Map<string, unknown>(Object.entries(body)).get(name);
}

/** Parses the body of an answer. What is not JSON comes from something in between, such as a proxy. */
export function parseAnswer(status: number, text: string): Answer {
  if (text === '') return { status, body: null };
  try {
    const body: unknown = JSON.parse(text);
    return { status, body };
  } catch {
    return { status, body: { detail: `the answer is not JSON: ${text.slice(0, 80).replace(/\s+/g, ' ')}` } };
  }
}
