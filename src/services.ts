import { AgentService, findDefinition, percentOfAgent } from './agents/agent-service.js';
import { AutoFitter } from './agents/auto/auto-fitter.js';
import { ChatService } from './agents/chat-service.js';
import { compactDefaultsOf, systemPromptOf } from './agents/definition.js';
import { Subagents } from './agents/subagents.js';
import { cancelForReset } from './agents/tasks/session-reset.js';
import { TaskNews } from './agents/tasks/task-news.js';
import { TASK_DEFAULTS, TaskRunner } from './agents/tasks/task-runner.js';
import { TaskService } from './agents/tasks/task-service.js';
import { TaskSignals } from './agents/tasks/task-signals.js';
import type { ChatModel } from './agents/turn/chat-model.js';
import { NO_FITTING } from './agents/turn/fitter.js';
import { TurnRunner } from './agents/turn/runner.js';
import { RunningTurns } from './agents/turn/running-turns.js';
import { NO_DEFAULTS } from './compaction/compact-result.js';
import type { LeaseTimes } from './compaction/lease-keeper.js';
import { RunningWork } from './compaction/running-work.js';
import { CompactionService, type CompactionSettings } from './compaction/service.js';
import type { Summarizer } from './compaction/summarizer.js';
import type { Store } from './db/store.js';
import type { CallOrigin } from './llm/circuit-breaker.js';
import type { WireOptions } from './llm/wire/options.js';
import type { Logger } from './logger.js';
import { ContextService } from './sessions/context-service.js';
import { SessionService } from './sessions/session-service.js';
import { createTokenEstimator, type TokenEstimator } from './tokens/estimate.js';

/** What the service is built from. Server, tests and tools supply the same parts. */
export interface ServiceParts {
  readonly store: Store;
  /** Ms since the epoch. */
  readonly clock: () => number;
  /** The summarizer for a call; null asks for the configured one. */
  readonly summarizerFor: (model: string | null, origin: CallOrigin) => Summarizer;
  /** What agents talk to; null when none is configured. */
  readonly model: ChatModel | null;
  readonly compaction: CompactionSettings;
  /** Memory for pages of messages that contexts are made of, in bytes. */
  readonly contextCacheBytes: number;
  /** How messages are cleaned for sending, beyond what every endpoint takes. */
  readonly wire: WireOptions;
  readonly logger: Logger;
}

export interface Services {
  readonly store: Store;
  readonly sessions: SessionService;
  readonly contexts: ContextService;
  readonly compaction: CompactionService;
  readonly agents: AgentService;
  readonly chat: ChatService;
  readonly tasks: TaskService;
  /** Chats at work. */
  readonly work: RunningWork;
}

export function createServices(parts: ServiceParts): Services {
  const { store, clock, summarizerFor, model, logger } = parts;
  const lease: LeaseTimes = parts.compaction;
  const { leaseMs } = lease;
  const contexts = new ContextService(store, {
    cacheBytes: parts.contextCacheBytes,
    wire: parts.wire,
    promptOf: async (db, tenant, agent) => {
      const definition = await findDefinition(db, tenant, agent);
      return definition === null ? null : systemPromptOf(definition);
    },
  });
  const compaction = new CompactionService({
    store,
    clock,
    summarizerFor,
    defaultsOf: async (db, tenant, agent) => {
      const definition = await findDefinition(db, tenant, agent);
      return definition === null ? NO_DEFAULTS : compactDefaultsOf(definition);
    },
    logger,
    settings: parts.compaction,
  });
  const agents = new AgentService(store, clock);
  const running = new RunningTurns();
  const fitter =
    model === null
      ? NO_FITTING
      : new AutoFitter({ store, compaction, contexts, model, estimator: tokenEstimator, logger });
  const runner = new TurnRunner({ store, clock, contexts, model, fitter, lease, running, logger });
  const subagents = new Subagents({ store, clock, agents, runner, leaseMs });
  const work = new RunningWork();
  const news = new TaskNews(store.news);
  const signals = new TaskSignals(news);
  const tasks = new TaskRunner({
    store,
    clock,
    runner,
    subagents,
    signals,
    news,
    lease,
    settings: TASK_DEFAULTS,
    enabled: model !== null,
    logger,
  });
  return {
    store,
    sessions: new SessionService({
      store,
      clock,
      percentOf: percentOfAgent,
      onRemoved: (sessionPk) => running.sessionDeleted(sessionPk),
      onReset: cancelForReset,
    }),
    contexts,
    compaction,
    agents,
    chat: new ChatService({ store, clock, agents, runner, subagents, work, leaseMs }),
    tasks: new TaskService({ store, clock, turns: runner, tasks, signals, news }),
    work,
  };
}

let loaded: Promise<TokenEstimator> | null = null;

/** Loaded once, when the first agent needs it: its tables take memory and time. After a failure it is tried again. */
function tokenEstimator(): Promise<TokenEstimator> {
  const estimator =
    loaded ??
    createTokenEstimator().catch((error: unknown) => {
      loaded = null;
      throw error;
    });
  loaded = estimator;
  return estimator;
}
