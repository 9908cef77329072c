import { describe, expect, it } from 'vitest';
import { wantedByComplaint } from '../../../src/llm/wire/complaints.js';

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
    ['The model does not exist', null],
    ['', null],
  ])('%j', (text, wanted) => {
    expect(wantedByComplaint(text)).toEqual(wanted);
  });

  it('takes several at once', () => {
    expect(wantedByComplaint('System message must be at the beginning. Roles must alternate.')).toEqual({
      singleSystem: true,
      strictAlternation: true,
    });
  });
});
