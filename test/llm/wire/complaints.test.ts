import { describe, expect, it } from 'vitest';
import { wantedByComplaint } from '../../../src/llm/wire/complaints.js';
import type { WireOptions } from '../../../src/llm/wire/options.js';

describe('what an endpoint wants, by its complaint', () => {
  it.each([
    ['Conversation roles must alternate user/assistant/user/assistant/...', { strictAlternation: true }],
    ['After the optional system message, conversation roles must alternate', { strictAlternation: true }],
    ['Cannot have 2 or more assistant messages at the end of the list.', { strictAlternation: true }],
    ["Unexpected role 'user' after role 'tool'", { bridgeToolToUser: true }],
    ['A conversation must start with a user message. Try again.', { firstUser: true }],
    ['Please ensure that function call turn comes immediately after a user turn', { firstUser: true }],
    ['System message must be at the beginning.', { singleSystem: true }],
    [
      'messages[1].content: invalid type: sequence, expected a string at line 1 column 40',
      { stringContent: true },
    ],
    ['messages.0.content: Input should be a valid string', { stringContent: true }],
    ['content should be a valid string', { stringContent: true }],
    ['Tool call id was call_abc but must be a-z, A-Z, 0-9, with a length of 9.', { shortCallIds: true }],
    ["property 'messages.0.name' is unsupported", { dropName: true }],
    ['Invalid JSON payload received. Unknown name "reasoning" at \'messages[2]\'', { stripReasoning: true }],
    ['messages.3.content cannot be null', { emptyStringWithCalls: true }],
    // Mistral v0.1 to v0.3, Gemma 2, o1-mini, Gemma 3 through Gemini
    ['System role not supported', { noSystemRole: true }],
    ['Only user and assistant roles are supported!', { noSystemRole: true }],
    ['Only user, assistant and tool roles are supported', { noSystemRole: true }],
    [
      'Only user and assistant roles are supported, with the exception of an initial optional system message!',
      { singleSystem: true },
    ],
    [
      "Unsupported value: 'messages[0].role' does not support 'system' with this model.",
      { noSystemRole: true },
    ],
    ['Developer instruction is not enabled for models/gemma-3-27b-it', { noSystemRole: true }],
    ['unknown variant `system`, expected one of `user`, `assistant`', { noSystemRole: true }],
    [
      'messages: roles must alternate between "user" and "assistant", but found multiple "user" roles in a row',
      { strictAlternation: true },
    ],
    ["Unexpected role 'system' after role 'user'", { singleSystem: true }],
    ['messages: first message must use the "user" role', { firstUser: true }],
    ['No user query found in messages.', { firstUser: true }],
    // OpenAI and Anthropic
    [
      "Invalid 'messages[10].tool_calls[0].id': string too long. Expected a string with maximum length 40, but got a string with length 46 instead.",
      { shortCallIds: true },
    ],
    [
      `Tool call id was call_${'a'.repeat(60)} but must be a-z, A-Z, 0-9, with a length of 9.`,
      { shortCallIds: true },
    ],
    [
      "messages.1.content.0.tool_use.id: String should match pattern '^[a-zA-Z0-9_-]+$'",
      { shortCallIds: true },
    ],
    [
      "Invalid 'messages[9].tool_calls[0].function.name': string does not match pattern. Expected a string that matches the pattern '^[a-zA-Z0-9_-]+$'.",
      { portableNames: true },
    ],
    [
      "Invalid 'tools[1].function.name': string too long. Expected a string with maximum length 64",
      { portableNames: true },
    ],
    [
      '* GenerateContentRequest.tools[0].function_declarations[37].name: Invalid function name. Must start with a letter or an underscore.',
      { portableNames: true },
    ],
    ["tools.0.custom.name: String should match pattern '^[a-zA-Z0-9_-]{1,128}$'", { portableNames: true }],
    ["Invalid 'messages[0].name': string does not match pattern.", { dropName: true }],
    // Groq, xAI
    [
      "'messages.1' : for 'role:tool' the following must be satisfied[('messages.1' : property 'name' is unsupported, did you mean 'role'?)]",
      { dropName: true },
    ],
    ["Only messages of role 'user' can have a name.", { dropName: true }],
    [
      "'messages.2' : for 'role:assistant' the following must be satisfied[('messages.2' : property 'status' is unsupported, did you mean 'name'?)]",
      null,
    ],
    [
      "'messages.1' : for 'role:assistant' the following must be satisfied[('messages.1' : property 'reasoning_content' is unsupported)]",
      { stripReasoning: true },
    ],
    // Mistral
    [
      'body.messages.31.assistant.reasoning_content: Extra inputs are not permitted',
      { stripReasoning: true },
    ],
    [
      "Extra inputs are not permitted, field: 'messages[8].reasoning', value: 'Now'",
      { stripReasoning: true },
    ],
    ['body.messages.0.user.name: Extra inputs are not permitted', { dropName: true }],
    ['Assistant message must have either content or tool_calls, but not both.', { textBeforeCalls: true }],
    ['Assistant message must have either content or tool_calls, but not none.', null],
    ['Mismatch type string with value array', { stringContent: true }],
    [
      'json: cannot unmarshal array into Go struct field ChatMessage.messages.content of type string',
      { stringContent: true },
    ],
    ["Invalid value for 'content': expected a string, got null.", { emptyStringWithCalls: true }],
    [
      'GenerateContentRequest.contents[12].parts[0].function_response.name: Name cannot be empty.',
      { resultNames: true },
    ],
    ['body.messages.2.tool.name: Field required', { resultNames: true }],
    // What the clean-up does without being asked, or cannot do.
    ['unknown variant `developer`, expected one of `system`, `user`', null],
    ['Expected last role User or Tool (or Assistant with prefix True) for serving but got assistant', null],
    [
      "Invalid parameter: Duplicate value for 'tool_call_id' of 'call_g', in messages[7] and messages[8].",
      null,
    ],
    ["An assistant message with 'tool_calls' must be followed by tool messages", null],
    ['The `reasoning_content` in the thinking mode must be passed back to the API.', null],
    ['The model does not exist', null],
    ['', null],
  ])('%j', (text, wanted) => {
    expect(wantedByComplaint(text)).toEqual(wanted);
  });

  it.each<[string, WireOptions, WireOptions | null]>([
    ['unknown variant `developer`', { keepDeveloper: true }, { keepDeveloper: false }],
    ['reasoning_content must be passed back to the API', { stripReasoning: true }, { stripReasoning: false }],
    ['System message must be at the beginning.', { singleSystem: true }, null],
    ['System message must be at the beginning.', { noSystemRole: true }, null],
    ['A conversation must start with a user message.', { strictAlternation: true }, null],
    ["Unexpected role 'user' after role 'tool'", { strictAlternation: true }, null],
    ['Conversation roles must alternate', { strictAlternation: true }, { noSystemRole: true }],
    ['Conversation roles must alternate', { strictAlternation: true, noSystemRole: true }, null],
    ['content: Input should be a valid string', { stringContent: true }, { emptyStringWithCalls: true }],
  ])('%j, when %j is set', (text, set, wanted) => {
    expect(wantedByComplaint(text, set)).toEqual(wanted);
  });

  it('takes a long text in no time', { timeout: 2_000 }, () => {
    const words = ['content ', 'tool call id ', 'system messages ', 'only user ', 'tools', 'reasoning', "'"];
    for (const word of words) expect(wantedByComplaint(word.repeat(20_000))).toBeNull();
  });

  it('takes several at once', () => {
    expect(wantedByComplaint('System message must be at the beginning. Roles must alternate.')).toEqual({
      singleSystem: true,
      strictAlternation: true,
    });
  });
});
