import type { RunningWork } from '../compaction/running-work.js';
import { leaveTurn } from '../db/repositories/turn-leases.js';
import type { Db, Store } from '../db/store.js';
import { AppError } from '../errors.js';
import {
  answerClaim,
  type Claim,
  findAnswer,
  type KeyedRequest,
  openClaim,
  placeClaim,
  releaseClaim,
  renewClaim,
  type StoredAnswer,
} from '../idempotency/claims.js';
import { newLeaseToken } from '../ids.js';
import { createSession } from '../sessions/new-session.js';
import type { AgentService } from './agent-service.js';
import { chatAnswer, storedAnswer } from './answer.js';
import type { AgentDefinition } from './definition.js';
import type { Subagents } from './subagents.js';
import type { TurnSink } from './turn/events.js';
import type { TurnInput } from './turn/input.js';
import { beginTurn, type OpenTurn, resumeTurn, sessionOf } from './turn/open-turn.js';
import type { TurnRunner } from './turn/runner.js';

export interface ChatRequest extends TurnInput {
  /** Null begins a new session. */
  readonly sessionId: string | null;
  /** Null for a request that cannot be repeated. */
  readonly key: KeyedRequest | null;
}

export interface ChatOutcome {
  readonly sessionId: string;
  readonly answer: StoredAnswer;
  /** Whether the answer is that of an earlier request with the same key. */
  readonly replayed: boolean;
}

interface Parts {
  readonly store: Store;
  /** Ms since the epoch. */
  readonly clock: () => number;
  readonly agents: AgentService;
  readonly runner: TurnRunner;
  readonly subagents: Subagents;
  readonly work: RunningWork;
  readonly leaseMs: number;
}

type Opened =
  | { readonly kind: 'answered'; readonly answer: StoredAnswer }
  | { readonly kind: 'opened'; readonly turn: OpenTurn };

/** Chat turns: somebody sends a message and waits for the answer. */
export class ChatService {
  readonly #parts: Parts;

  constructor(parts: Parts) {
    this.#parts = parts;
  }

  /**
   * Stores what came and runs the agent until it answers or calls the caller's tools. After a failure the message
   * stays, the error names the session, and the same request with the same key goes on from there.
   *
   * @param signal fires when the caller goes away: the turn ends, and what is stored by then stays
   */
  async chat(
    tenant: string,
    name: string,
    request: ChatRequest,
    emit: TurnSink,
    signal: AbortSignal,
  ): Promise<ChatOutcome> {
    const { store, agents, runner, subagents, work } = this.#parts;
    const { key } = request;
    // What was answered once stays so, whatever has become of the agent, the session or the endpoint since.
    const given = key === null ? null : await findAnswer(store.read, key);
    if (given !== null) return replay(given);
    const agent = await agents.definition(tenant, name);
    runner.requireModel();
    return work.run(signal, async (controller) => {
      controller.signal.throwIfAborted();
      const opened = await store.tx((db) => this.#open(db, tenant, agent, request));
      if (opened.kind === 'answered') return replay(opened.answer);
      const { turn } = opened;
      const { sessionId } = turn;
      emit({ type: 'session-opened', data: { sessionId } });
      try {
        const equipment = await subagents.equip(agent, turn, {
          callerRunsTools: true,
          origin: 'manual',
          depth: 0,
        });
        const end = await runner.run({ ...equipment, turn, emit, ...this.#ending(turn, key) }, controller);
        return { sessionId, answer: storedAnswer(chatAnswer(sessionId, end)), replayed: false };
      } catch (error) {
        if (!(error instanceof AppError)) throw error;
        const extensions = { ...error.options.extensions, sessionId };
        throw new AppError(error.code, error.message, { ...error.options, extensions, cause: error });
      }
    });
  }

  async #open(db: Db, tenant: string, agent: AgentDefinition, request: ChatRequest): Promise<Opened> {
    const { leaseMs, clock } = this.#parts;
    const { key } = request;
    const start = { owner: newLeaseToken(), leaseMs, nowMs: clock() };
    const claim: Claim =
      key === null ? { kind: 'fresh' } : await openClaim(db, key, start.owner, leaseMs, start.nowMs);
    if (claim.kind === 'answered') return claim;
    if (claim.kind === 'resumed' && claim.sessionPk !== null && claim.position !== null) {
      const { sessionPk, position } = claim;
      return { kind: 'opened', turn: await resumeTurn(db, sessionPk, position, start, request.message) };
    }
    const session =
      request.sessionId === null
        ? await createSession(
            db,
            {
              tenant,
              id: null,
              kind: 'chat',
              agent: agent.name,
              compactCount: agent.defaultCompaction?.compactionCount ?? null,
            },
            start.nowMs,
          )
        : await sessionOf(db, tenant, request.sessionId);
    const turn = await beginTurn(db, session.pk, request, start);
    if (key !== null) {
      await placeClaim(db, key, start.owner, { sessionPk: session.pk, position: turn.position });
    }
    return { kind: 'opened', turn };
  }

  /** What ends with a chat turn: its session is free again, and its key has an answer or may be used once more. */
  #ending(turn: OpenTurn, key: KeyedRequest | null) {
    const { sessionPk, owner, position, sessionId } = turn;
    return {
      finish: async (db: Db, end: Parameters<typeof chatAnswer>[1]) => {
        // A turn that waits for results stays open: from its message on nothing is summarized.
        await leaveTurn(db, sessionPk, owner, end.status === 'completed' ? null : position);
        if (key !== null) await answerClaim(db, key, owner, storedAnswer(chatAnswer(sessionId, end)));
      },
      fail: async (db: Db) => {
        if (key !== null) await releaseClaim(db, key, owner);
      },
      renew: async (db: Db) => {
        if (key !== null) await renewClaim(db, key, owner, this.#parts.leaseMs);
        return null;
      },
    };
  }
}

function replay(answer: StoredAnswer): ChatOutcome {
  const { sessionId }: { sessionId: string } = JSON.parse(answer.body);
  return { sessionId, answer, replayed: true };
}
