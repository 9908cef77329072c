import { expect, test } from 'vitest';
import { completionsUrl } from '../../src/llm/completions-url.js';

test.each([
  ['http://h:1', 'http://h:1/v1/chat/completions'],
  ['http://h:1/', 'http://h:1/v1/chat/completions'],
  ['http://h:1//', 'http://h:1/v1/chat/completions'],
  [' http://h:1 ', 'http://h:1/v1/chat/completions'],
  ['http://h:1/v1', 'http://h:1/v1/chat/completions'],
  ['http://h:1/v1/', 'http://h:1/v1/chat/completions'],
  ['http://h:1/proxy/v1', 'http://h:1/proxy/v1/chat/completions'],
  ['https://g/v1beta/openai/', 'https://g/v1beta/openai/chat/completions'],
  ['https://o/api/v1', 'https://o/api/v1/chat/completions'],
  ['https://a/x/chat/completions', 'https://a/x/chat/completions'],
  ['https://a/x/chat/completions/', 'https://a/x/chat/completions'],
  [
    'https://a/openai/deployments/d?api-version=2024-10-21',
    'https://a/openai/deployments/d/chat/completions?api-version=2024-10-21',
  ],
  ['https://a?k=v', 'https://a/v1/chat/completions?k=v'],
  ['https://a/v1#part', 'https://a/v1/chat/completions'],
])('%s becomes %s', (base, expected) => {
  expect(completionsUrl(base).href).toBe(expected);
});

test.each(['http://user:secret@h/v1', 'https://secret@h', 'http://:secret@h'])(
  '%s holds credentials, which are refused and not shown',
  (base) => {
    expect(() => completionsUrl(base)).toThrow(
      new Error(
        'The base URL of a model endpoint must hold no user or password: set the API key, or an Authorization header among the extra headers',
      ),
    );
  },
);

test.each(['http://', 'http://[h/v1', 'https://h:99999'])('%s is no URL at all', (base) => {
  expect(() => completionsUrl(base)).toThrow('The base URL of a model endpoint is no valid URL');
});

test.each(['', 'localhost:11434', 'ftp://h/v1', '/v1'])('%j is not an address of an endpoint', (base) => {
  expect(() => completionsUrl(base)).toThrow('must begin with http:// or https://');
});
