import type { ChatMessage } from '../compaction/measure.js';
import { changeSession, findSessionByPk } from '../db/repositories/sessions.js';
import { closeUnfinishedSubagents } from '../db/repositories/subagent-sessions.js';
import { leaveTurn } from '../db/repositories/turn-leases.js';
import type { Db, Store } from '../db/store.js';
import { AppError } from '../errors.js';
import { newLeaseToken } from '../ids.js';
import { createSession } from '../sessions/new-session.js';
import { type AgentService, findDefinition } from './agent-service.js';
import type { AgentDefinition } from './definition.js';
import { MAX_LEVELS } from './subagent-graph.js';
import type { TurnEnd } from './turn/events.js';
import { beginTurn, type OpenTurn } from './turn/open-turn.js';
import type { OutstandingCall } from './turn/outstanding-calls.js';
import type { TurnRun } from './turn/run.js';
import type { TurnRunner } from './turn/runner.js';
import { subagentInput, toolsOf } from './turn/tools.js';

interface Parts {
  readonly store: Store;
  /** Ms since the epoch. */
  readonly clock: () => number;
  readonly agents: AgentService;
  readonly runner: TurnRunner;
  readonly leaseMs: number;
}

/** What a turn of an agent is equipped with: its tools, and its subagents behind them. */
export type Equipment = Pick<
  TurnRun,
  'agent' | 'tools' | 'subagent' | 'endLeftSubagents' | 'callerRunsTools' | 'origin'
>;

/** Where a subagent runs: how deep, and for whom. */
type Below = Pick<Equipment, 'origin'> & { readonly depth: number };

/** Runs subagents: each call is a turn of its own, on a fresh session, whose last text is the call's result. */
export class Subagents {
  readonly #parts: Parts;

  constructor(parts: Parts) {
    this.#parts = parts;
  }

  /**
   * @param parent the session whose turn is equipped
   * @param depth levels above this agent; 0 for the one that somebody talks to
   */
  async equip(
    agent: AgentDefinition,
    parent: { readonly tenant: string; readonly sessionId: string },
    options: Pick<Equipment, 'callerRunsTools' | 'origin'> & { readonly depth: number },
  ): Promise<Equipment> {
    const { store } = this.#parts;
    const names = agent.subagents ?? [];
    const known = await Promise.all(names.map((name) => findDefinition(store.read, parent.tenant, name)));
    const descriptions = new Map(known.map((each) => [each?.name, each?.description ?? null]));
    const { callerRunsTools, origin, depth } = options;
    return {
      agent,
      origin,
      callerRunsTools,
      tools: toolsOf(agent, callerRunsTools, (name) => descriptions.get(name) ?? null),
      subagent: (call, signal) =>
        names.includes(call.name) ? this.#result(call, parent, { depth: depth + 1, origin }, signal) : null,
      endLeftSubagents: () => this.#endLeft(parent),
    };
  }

  /** What the model reads: the answer, or why there is none. Only what ends the whole turn is thrown. */
  async #result(
    call: OutstandingCall,
    parent: { readonly tenant: string; readonly sessionId: string },
    below: Below,
    signal: AbortSignal,
  ): Promise<ChatMessage> {
    try {
      if (below.depth > MAX_LEVELS) throw new AppError('STEP_LIMIT_REACHED', 'Subagents are nested too deep');
      const end = await this.#run(call, parent, below, signal);
      return toolResult(call, textOf(end.message));
    } catch (error) {
      if (signal.aborted || !(error instanceof AppError)) throw error;
      return toolResult(call, JSON.stringify({ error: `${error.code}: ${error.message}` }));
    }
  }

  async #run(
    call: OutstandingCall,
    parent: { readonly tenant: string; readonly sessionId: string },
    below: Below,
    signal: AbortSignal,
  ): Promise<TurnEnd> {
    const { agents, runner } = this.#parts;
    const { tenant } = parent;
    const agent = await agents.definition(tenant, call.name);
    const turn = await this.#begin(call, agent, parent);
    const equipment = await this.equip(
      agent,
      { tenant, sessionId: turn.sessionId },
      { callerRunsTools: false, ...below },
    );
    const controller = new AbortController();
    const leave = () => controller.abort(signal.reason);
    signal.addEventListener('abort', leave, { once: true });
    if (signal.aborted) leave();
    try {
      return await runner.run(
        {
          ...equipment,
          turn,
          emit: () => {},
          finish: (db) => this.#close(db, turn),
          fail: (db) => this.#close(db, turn),
          renew: async () => null,
        },
        controller,
      );
    } finally {
      signal.removeEventListener('abort', leave);
    }
  }

  #begin(
    call: OutstandingCall,
    agent: AgentDefinition,
    { tenant, sessionId }: { readonly tenant: string; readonly sessionId: string },
  ): Promise<OpenTurn> {
    const { store, clock, leaseMs } = this.#parts;
    const start = { owner: newLeaseToken(), leaseMs, nowMs: clock() };
    return store.tx(async (db) => {
      const session = await createSession(
        db,
        {
          tenant,
          id: null,
          kind: 'subagent',
          agent: agent.name,
          compactCount: agent.defaultCompaction?.compactionCount ?? null,
          parentSessionId: sessionId,
        },
        start.nowMs,
      );
      const input = { message: subagentInput(call.arguments), toolResults: [] };
      return beginTurn(db, session.pk, input, start);
    });
  }

  /** The call is run anew: what was begun for it, down to the last level, is of no use to anybody. */
  async #endLeft({ tenant, sessionId }: { tenant: string; sessionId: string }): Promise<void> {
    const { store, clock } = this.#parts;
    await store.tx(async (db) => {
      let parents = [sessionId];
      while (parents.length > 0) parents = await closeUnfinishedSubagents(db, tenant, parents, clock());
    });
  }

  /** The session of a call serves no other one. */
  async #close(db: Db, turn: OpenTurn): Promise<void> {
    const now = this.#parts.clock();
    await leaveTurn(db, turn.sessionPk, turn.owner, null);
    if ((await findSessionByPk(db, turn.sessionPk)) === null) return;
    await changeSession(db, turn.sessionPk, { status: 'closed', closed_at: now }, now);
  }
}

function toolResult({ id }: OutstandingCall, content: string): ChatMessage {
  return { role: 'tool', tool_call_id: id, content };
}

/** The text of a reply. One that only refuses says so in its refusal. */
function textOf({ content, refusal }: ChatMessage): string {
  return typeof content === 'string' && content !== '' ? content : (refusal ?? '');
}
