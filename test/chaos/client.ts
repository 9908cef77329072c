import { setTimeout as sleep } from 'node:timers/promises';
import type { Figures } from './figures.js';
import type { ChaosNode } from './node.js';
import type { Random } from './random.js';

/** Longer than a node is ever paused, in ms: then the answer is not known. */
const ANSWER_MS = 15_000;
/** The members of the answers that the clients look at. */
export interface AnswerBody {
  readonly id: string;
  readonly code?: string;
  readonly detail?: string;
  readonly retryable?: boolean;
  readonly status: string;
  readonly sessionId: string;
  readonly session_id: string;
  readonly message: { readonly content: string };
  readonly messages: readonly { readonly role: string; readonly content: string }[];
  readonly toolCalls: readonly { readonly id: string }[];
  readonly tool_calls: readonly { readonly id: string }[] | null;
  readonly data: readonly { readonly seq: number }[];
}

export interface Answer {
  readonly status: number;
  readonly body: AnswerBody;
  readonly text: string;
}

export interface Asked {
  /** What it counts as. */
  readonly kind: string;
  readonly method: 'GET' | 'POST' | 'PUT';
  readonly path: string;
  readonly body?: object;
  readonly key?: string;
  /** The client goes away after this time, in ms. */
  readonly leaveAfterMs?: number;
  readonly headers?: Readonly<Record<string, string>>;
}

/** What became of a request, or of one that was repeated until this was known. */
export interface Outcome {
  /** `unknown`: it may have been done, or may yet be. `refused`: it was not. */
  readonly kind: 'done' | 'refused' | 'unknown';
  readonly answer: Answer | null;
  /** When it was first sent, and when its fate was known; ms of `performance.now()`. */
  readonly start: number;
  readonly end: number;
}

export interface ClientParts {
  readonly random: Random;
  readonly figures: Figures;
  readonly faults: string[];
  readonly patienceMs: number;
}

/** Sends requests to any of the nodes, as a load balancer would that notices at once when one is paused. */
export class Client {
  readonly #nodes: readonly ChaosNode[];
  readonly #random: Random;
  readonly #figures: Figures;
  readonly #faults: string[];

  readonly #patienceMs: number;

  /** @param patienceMs how long a request is repeated before its client gives up */
  constructor(nodes: readonly ChaosNode[], { random, figures, faults, patienceMs }: ClientParts) {
    this.#patienceMs = patienceMs;
    this.#nodes = nodes;
    this.#random = random;
    this.#figures = figures;
    this.#faults = faults;
  }

  /** One request to one node; null when no answer came. */
  async send({ kind, method, path, body, key, leaveAfterMs, headers = {} }: Asked): Promise<Answer | null> {
    const url = this.url();
    const started = performance.now();
    let code = 'no answer';
    try {
      if (url === null) return null;
      const response = await fetch(`${url}${path}`, {
        method,
        ...(body === undefined ? {} : { body: JSON.stringify(body) }),
        headers: {
          ...(body === undefined ? {} : { 'content-type': 'application/json' }),
          ...(key === undefined ? {} : { 'idempotency-key': key }),
          ...headers,
        },
        signal: AbortSignal.timeout(leaveAfterMs ?? ANSWER_MS),
      });
      const text = await response.text();
      const answer = answerOf(response.status, response.headers.get('content-type') ?? '', text);
      if (answer === null) return null;
      code = `${answer.status}${answer.body.code === undefined ? '' : ` ${answer.body.code}`}`;
      if (answer.status === 500 && answer.body.code === 'INTERNAL_ERROR')
        this.#faults.push(`${method} ${path} answered ${answer.text}`);
      return answer;
    } catch {
      return null;
    } finally {
      this.#figures.count(kind, code);
      this.#figures.took(kind, performance.now() - started);
    }
  }

  /** Sends it once. */
  async once(asked: Asked): Promise<Outcome> {
    const start = performance.now();
    const answer = await this.send(asked);
    return { kind: fateOf(answer), answer, start, end: performance.now() };
  }

  /** Sends it again, with the same key, until the answer is one that a repetition does not change. */
  async settle(asked: Asked): Promise<Outcome> {
    const start = performance.now();
    for (let isDoubtful = false; ; ) {
      const answer = await this.send(asked);
      const end = performance.now();
      const kind = fateOf(answer);
      if (kind === 'done') return { kind, answer, start, end };
      // What is refused now may have been stored by an earlier try, or may yet be by a node that is paused.
      isDoubtful ||= kind === 'unknown';
      const isFinal = kind === 'refused' && answer?.body.retryable !== true;
      if (isFinal || end - start > this.#patienceMs)
        return { kind: isDoubtful ? 'unknown' : 'refused', answer, start, end };
      await sleep(this.#random.int(30, 400));
    }
  }

  /** Of a node that runs; null while none does. What a node had begun to do when it was paused hangs with it. */
  url(): string | null {
    const urls = this.#nodes.flatMap(({ url, isWell }) => (url !== null && isWell ? [url] : []));
    return urls.length === 0 ? null : this.#random.pick(urls);
  }
}

/** An event stream counts as what its last event says; one that was cut says nothing. */
function answerOf(status: number, type: string, text: string): Answer | null {
  if (!type.includes('event-stream')) {
    return { status, body: JSON.parse(text === '' ? '{}' : text), text };
  }
  const last = text.trimEnd().split('\n\n').at(-1) ?? '';
  const data = /^data: (.*)$/m.exec(last)?.[1] ?? '{}';
  if (last.startsWith('event: turn-completed')) return { status, body: JSON.parse(data), text: data };
  const problem: { status: number } = JSON.parse(data);
  return last.startsWith('event: error')
    ? { status: problem.status, body: JSON.parse(data), text: data }
    : null;
}

function fateOf(answer: Answer | null): Outcome['kind'] {
  if (answer === null || answer.status >= 499) return 'unknown';
  return answer.status < 400 ? 'done' : 'refused';
}
