import type { WireSwitch } from './options.js';

/** An option, and whether the endpoint wants it on or off. */
export type Step = readonly [option: WireSwitch, on: boolean];

/**
 * What endpoints say when they refuse a form of messages, and what they
 * want instead. Several steps for one text are alternatives, the cheapest first: the next one is due when the
 * same words come although the one before is on.
 */
export const COMPLAINTS: readonly { readonly says: RegExp; readonly steps: readonly Step[] }[] = [
  {
    // Gemma, Mistral, Llama 2. Templates without a system role say the same of a system message in front.
    says: /roles? must alternate|requests? alternate between user and model|cannot have 2 or more assistant messages/i,
    steps: [
      ['strictAlternation', true],
      ['noSystemRole', true],
    ],
  },
  {
    // Gemma, Mistral before v0.3, o1-mini
    says: /system (?:role|messages?|prompts?)(?: is| are)? not supported|only user(?:, assistant,? and tool| and assistant) roles are supported(?!, with the exception of an? (?:initial )?optional system)|(?:unsupported|unknown|invalid)(?: message)? (?:role|variant):? ['"`]?system\b|role ['"`]?system['"`]? is (?:not supported|unsupported|invalid)|does not support ['"`]system['"`]|(?:developer|system) instruction is not enabled/i,
    steps: [['noSystemRole', true]],
  },
  {
    // Qwen 3.5, Mistral
    says: /system messages? must (?:be|come) (?:at the (?:beginning|start)|(?:the )?first)|(?:only one|multiple) system messages?|with the exception of an? (?:initial )?optional system|unexpected role ['"`]?system['"`]? after/i,
    steps: [['singleSystem', true]],
  },
  {
    // Bedrock, Gemini; templates that look for a question of the user
    says: /must start with a user message|comes? immediately after a user turn|first message must (?:be|use) .{0,20}user|no user query found|at least one (?:message with (?:the )?role ['"`]?user|user message)/i,
    steps: [['firstUser', true]],
  },
  {
    // Mistral
    says: /unexpected role ['"`]?user['"`]? after role ['"`]?tool/i,
    steps: [['bridgeToolToUser', true]],
  },
  {
    // Mistral, OpenAI, Anthropic. The id itself may be long.
    says: /tool.?call.?id.{0,200}(?:length of 9|maximum length|too long|must match|match pattern|must be a-z)|tool_calls\W{0,2}\d+\W{0,2}id\b.{0,60}(?:too long|maximum length|pattern)|tool_use\.id.{0,40}pattern/i,
    steps: [['shortCallIds', true]],
  },
  {
    // Gateways and small servers, of null beside calls
    says: /content.{0,40}(?:cannot|must not|may not) be null|content: none is not an allowed value|content.{0,60}got null|invalid type: null, expected a string|missing field .?content\b/i,
    steps: [['emptyStringWithCalls', true]],
  },
  {
    // Mistral
    says: /either content or tool_?calls,? but not both|(?:both|cannot (?:set|have)) content and tool_?calls/i,
    steps: [['textBeforeCalls', true]],
  },
  {
    // DeepSeek, Cerebras, small servers. Null is no valid string either, so that is next.
    says: /invalid type: sequence, expected a string|content\S{0,60} (?:must be|should be|input should be) a (?:valid )?string|type string with value array|cannot unmarshal array into .{0,80}content|content.{0,60}expected a string, (?:but )?got an? (?:list|array)/i,
    steps: [
      ['stringContent', true],
      ['emptyStringWithCalls', true],
    ],
  },
  {
    // Groq, xAI. Not what is only proposed: "did you mean 'name'?"
    says: /property ['"`](?:messages\W{0,2}\d+\W{0,2})?name['"`] is unsupported|unsupported.{0,30}messages\S{0,40}\.name|['"`]name['"`] is unsupported|only messages? (?:of|with) role .{0,3}user.{0,3} can have a name|['"`]messages\[\d+\]\.name['"`]: string does not match|messages(?:\.\d+)(?:\.\w+)?\.name: extra inputs/i,
    steps: [['dropName', true]],
  },
  {
    // Gemini, Mistral
    says: /function_response\.name|messages\.\d+\.(?:tool\.)?name: (?:field|name is) required|tool (?:result|message)s?.{0,40}(?:must have|require[sd]?|missing).{0,20}\bname\b/i,
    steps: [['resultNames', true]],
  },
  {
    // OpenAI, Gemini, Anthropic
    says: /function\.name['"`]?: string (?:does not match|too long)|function\.name.{0,40}(?:should match|maximum length|at most 64)|tools?\S{0,60}\.name: string should (?:match|have at most)|invalid function name/i,
    steps: [['portableNames', true]],
  },
  {
    // DeepSeek, xAI and most others
    says: /(?:unknown|unsupported|invalid)(?: message)? (?:role|variant):? ['"`]?developer\b|does not support ['"`]developer['"`]|['"`]developer['"`] is not one of|input should be ['"`]system['"`], ['"`]user['"`]/i,
    steps: [['keepDeveloper', false]],
  },
  {
    // DeepSeek while it thinks
    says: /\breasoning\w{0,20}.{0,60}must be passed back/i,
    steps: [['stripReasoning', false]],
  },
  {
    // Groq, Mistral, Gemini
    says: /(?:unknown name|extra inputs?|unsupported|unrecognized)\W.{0,60}\breasoning(?:_content|_details)?\b|\breasoning(?:_content|_details)?\b['"`]?(?: is unsupported|: extra inputs?)/i,
    steps: [['stripReasoning', true]],
  },
];
