import { Type } from 'typebox';
import { TASK_STATES } from '../../agents/tasks/states.js';
import { CHAT_EVENTS, ToolResults, TurnMessage } from './chat.js';
import {
  answer,
  Count,
  named,
  nullable,
  optionalBody,
  pageOf,
  ref,
  SESSION_ID_PATTERN,
  stringEnum,
  Timestamp,
} from './common.js';
import { ChatMessage, ToolCall } from './message.js';

export const SessionId = Type.String({ pattern: SESSION_ID_PATTERN, description: 'Id of the session' });

export const TaskParams = Type.Object(
  {
    id: Type.String({
      pattern: '^[A-Za-z0-9_]{1,128}$',
      description: 'Id of the task',
      examples: ['task_1'],
    }),
  },
  { additionalProperties: false },
);

export const CreateTask = named(
  'CreateTask',
  Type.Object(
    {
      input: TurnMessage,
      sessionId: Type.Optional({ ...SessionId, description: 'Goes on with it; left out, a new one begins' }),
    },
    {
      additionalProperties: false,
      examples: [{ input: 'Find two berths to Oslo in the evenings of next week, and compare prices.' }],
    },
  ),
);

export const ResumeTask = named(
  'ResumeTask',
  optionalBody(
    Type.Object(
      { toolResults: Type.Optional(ToolResults), message: Type.Optional(TurnMessage) },
      {
        description:
          'For a task that waits: the results of all its calls, or a message, which abandons the calls without a ' +
          'result. A task that failed or was interrupted goes on by itself when the body is left out.',
      },
    ),
    [{ message: 'Leave the prices out, then.' }],
  ),
);

const TaskError = {
  type: ['object', 'null'],
  properties: {
    code: { type: 'string', description: '`INTERRUPTED`, or the code of an error' },
    detail: { type: 'string' },
  },
  required: ['code', 'detail'],
};

export const Task = named(
  'Task',
  Type.Unsafe<object>(
    Type.Object({
      id: Type.String(),
      agent: Type.String(),
      kind: stringEnum(['task', 'tick']),
      status: stringEnum(TASK_STATES),
      session_id: Type.String(),
      input: TurnMessage,
      tool_calls: Type.Unsafe<object[] | null>({
        type: ['array', 'null'],
        items: ref(ToolCall),
        description: 'The calls whose results it waits for',
      }),
      result: Type.Unsafe<object | null>({
        anyOf: [ref(ChatMessage), { type: 'null' }],
        description: 'The last message of the agent, when it is completed',
      }),
      finish_reason: nullable(Type.String()),
      error: Type.Unsafe<object | null>(TaskError),
      usage: Type.Object(
        { input_tokens: Count, output_tokens: Count },
        { description: 'Of all its runs, as far as the model said' },
      ),
      created_at: Timestamp,
      updated_at: Timestamp,
      started_at: nullable(Timestamp),
      finished_at: nullable(Timestamp),
    }),
  ),
);

export const TaskPage = pageOf('TaskPage', Task);

export const TaskQuery = {
  agent: Type.Optional(Type.String({ maxLength: 64 })),
  status: Type.Optional(stringEnum(TASK_STATES)),
  kind: Type.Optional(stringEnum(['task', 'tick'])),
  sessionId: Type.Optional(SessionId),
};

const STATE_DATA = {
  type: 'object',
  properties: {
    status: { type: 'string', enum: [...TASK_STATES] },
    tool_calls: { type: 'array', items: ref(ToolCall), description: 'When it waits' },
    result: { ...ref(ChatMessage) },
    finish_reason: { type: ['string', 'null'] },
    error: { ...TaskError, type: 'object' },
  },
  required: ['status'],
};

const pascal = (name: string) =>
  name
    .split('-')
    .map((word) => word.charAt(0).toUpperCase() + word.slice(1))
    .join('');

export const TASK_STATE_EVENTS = TASK_STATES.map((status) =>
  named(
    `${pascal(`task-${status}`)}Event`,
    Type.Unsafe<object>({
      type: 'object',
      description: `The task is ${status} from here on`,
      properties: { event: { type: 'string', const: `task-${status}` }, data: STATE_DATA },
      required: ['event', 'data'],
    }),
  ),
);

/** Of the turn's events, those that are stored. */
const TURN_EVENTS = CHAT_EVENTS.filter(({ $id }) =>
  /^(ToolCalled|Compaction\w+|MessageCompleted|Error)Event$/.test($id),
);

export const TaskEvent = named(
  'TaskEvent',
  Type.Unsafe<object>({
    oneOf: [...TASK_STATE_EVENTS, ...TURN_EVENTS].map((each) => ref(each)),
    discriminator: { propertyName: 'event' },
    description:
      'One event of a task: `event` is its name, `data` the JSON of its data, and `id` its number, from 0. ' +
      '`error` has no number: it says why the stream ends before the task does.',
  }),
);

export const TASK_COMPONENTS = [
  CreateTask,
  ResumeTask,
  Task,
  TaskPage,
  ...TASK_STATE_EVENTS,
  TaskEvent,
] as const;

export const theTask = (description: string, headers?: Record<string, object>) =>
  answer(description, ref(Task), headers);

export const TASK_LOCATION = {
  location: { schema: { type: 'string' }, description: 'Path of the task' },
};
