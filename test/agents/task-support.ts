import { setTimeout as sleep } from 'node:timers/promises';

export interface TaskBody {
  id: string;
  agent: string;
  kind: string;
  status: string;
  session_id: string;
  input: unknown;
  tool_calls: { id: string; type: string; function: { name: string; arguments: string } }[] | null;
  result: { role: string; content: unknown } | null;
  finish_reason: string | null;
  error: { code: string; detail: string } | null;
  usage: { input_tokens: number; output_tokens: number };
  created_at: string;
  updated_at: string;
  started_at: string | null;
  finished_at: string | null;
  code: string;
  data: TaskBody[];
}

/** A service in this process, or one of its own as `overHttp` gives it. */
export interface Callable {
  call(
    method: 'GET' | 'POST' | 'PUT' | 'DELETE',
    path: string,
    body?: unknown,
    headers?: Record<string, string>,
  ): Promise<{ status: number; headers: Readonly<Record<string, unknown>>; body: object }>;
}

/** A process as something to call; the text of its answers is JSON, or empty. */
export function overHttp({ url }: { readonly url: string }): Callable {
  return {
    async call(method, path, body, headers = {}) {
      const json = body === undefined ? {} : { body: JSON.stringify(body) };
      const type = body === undefined ? {} : { 'content-type': 'application/json' };
      const response = await fetch(`${url}${path}`, { method, ...json, headers: { ...type, ...headers } });
      const text = await response.text();
      return {
        status: response.status,
        headers: Object.fromEntries(response.headers),
        body: JSON.parse(text === '' ? '{}' : text),
      };
    },
  };
}

/** Sends a request that is answered with a task, a list of tasks or a problem. */
export async function ask(service: Callable, ...request: Parameters<Callable['call']>) {
  const { status, headers, body } = await service.call(...request);
  const task: TaskBody = JSON.parse(JSON.stringify(body));
  return { status, headers, body: task };
}

/** Creates a task; gives its id. */
export async function newTask(service: Callable, agent: string, body: object): Promise<string> {
  const created = await ask(service, 'POST', `/agents/${agent}/tasks`, body);
  if (created.status !== 202) throw new Error(JSON.stringify(created.body));
  return created.body.id;
}

/** The task once it is in this state; fails after `ms`. */
export async function until(service: Callable, id: string, status: string, ms = 5_000): Promise<TaskBody> {
  const deadline = performance.now() + ms;
  for (;;) {
    const { body } = await ask(service, 'GET', `/tasks/${id}`);
    if (body.status === status) return body;
    if (performance.now() > deadline) throw new Error(`${id} is ${JSON.stringify(body)}, not ${status}`);
    await sleep(10);
  }
}

export interface ReadEvent {
  readonly id: number | null;
  readonly event: string;
  readonly data: Record<string, unknown>;
}

/** The events of a stream that has ended. */
export function eventsOf(text: string): ReadEvent[] {
  return text
    .split('\n\n')
    .filter((block) => block.includes('event: '))
    .map((block) => {
      const field = (name: string) =>
        block
          .split('\n')
          .find((line) => line.startsWith(`${name}: `))
          ?.slice(name.length + 2);
      const id = field('id');
      return {
        id: id === undefined ? null : Number(id),
        event: field('event') ?? '',
        data: JSON.parse(field('data') ?? 'null'),
      };
    });
}

/** A reply of the stub that calls tools by these ids. */
export const calling = (...ids: string[]) => ({
  content: null,
  finish: 'tool_calls',
  message: {
    tool_calls: ids.map((id) => ({ id, type: 'function', function: { name: 'lookup', arguments: '{}' } })),
  },
});

export const LOOKUP = { tools: [{ type: 'function', function: { name: 'lookup' } }] };
