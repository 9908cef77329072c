import { describe, expect, it } from 'vitest';
import { cleanForWire } from '../../../src/llm/wire/clean-for-wire.js';
import type { StoredMessage } from '../../../src/llm/wire/wire-message.js';
import { result } from '../../support/messages.js';

describe('lone surrogates', () => {
  it('are replaced in every string, also in nested fields and their names', () => {
    const stored: StoredMessage = {
      role: 'assistant',
      content: [
        { type: 'text', text: 'a\ud83d' },
        { type: 'other', '\ude00k': ['\ude00', { deep: '\ud83d' }] },
      ],
      tool_calls: [{ id: 'c\ud83d', type: 'function', function: { name: 'n', arguments: '{"a":"\ud83d"}' } }],
      vendor: { whole: '😀', n: 1, none: null },
    };
    expect(cleanForWire([stored, result('c\ud83d', 'r')])).toEqual([
      {
        role: 'assistant',
        content: [
          { type: 'text', text: 'a\ufffd' },
          { type: 'other', '\ufffdk': ['\ufffd', { deep: '\ufffd' }] },
        ],
        tool_calls: [
          { id: 'c\ufffd', type: 'function', function: { name: 'n', arguments: '{"a":"\ufffd"}' } },
        ],
        vendor: { whole: '😀', n: 1, none: null },
      },
      result('c\ufffd', 'r'),
    ]);
  });

  it('are replaced in the name of a field alone', () => {
    const list: StoredMessage[] = [{ role: 'user', content: 'hi', vendor: { 'k\ud83d': 1, b: 2 } }];
    expect(JSON.stringify(cleanForWire(list))).toBe(
      '[{"role":"user","content":"hi","vendor":{"b":2,"k\ufffd":1}}]',
    );
  });

  it('do not turn a field called __proto__ into a prototype', () => {
    const fields: Record<string, unknown> = JSON.parse('{"__proto__": "\\ud83d", "b": {"__proto__": {}}}');
    const [sent] = cleanForWire([{ ...fields, role: 'user', content: 'hi' }]);
    expect(JSON.stringify(sent)).toBe(
      '{"__proto__":"\ufffd","b":{"__proto__":{}},"role":"user","content":"hi"}',
    );
  });
});
