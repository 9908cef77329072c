import { describe, expect, test } from 'vitest';
import { parseTranscript } from '../../src/summarizer/parse-transcript.js';

describe('parseTranscript', () => {
  test('reads every kind of label', () => {
    const transcript = [
      '[user]\nhello',
      '[user (alice)]\nhi',
      '[assistant]\nyes',
      '[assistant calls get_hours]\n{"day":"monday"}',
      '[result of get_hours]\n9 to 5',
      '[tool result]\nlost',
      '[system]\nbe brief',
    ].join('\n\n');
    expect(parseTranscript(transcript)).toEqual([
      { role: 'user', tool: null, text: 'hello' },
      { role: 'user', tool: null, text: 'hi' },
      { role: 'assistant', tool: null, text: 'yes' },
      { role: 'call', tool: 'get_hours', text: '{"day":"monday"}' },
      { role: 'result', tool: 'get_hours', text: '9 to 5' },
      { role: 'result', tool: null, text: 'lost' },
      { role: 'unknown', tool: null, text: 'be brief' },
    ]);
  });

  test('a piece that begins in the middle of a message has no role until the first label', () => {
    expect(parseTranscript('rest of it\n\nand more\n\n[user]\nok')).toEqual([
      { role: 'unknown', tool: null, text: 'rest of it\n\nand more' },
      { role: 'user', tool: null, text: 'ok' },
    ]);
  });

  test('the label of a continued message keeps its role and tool', () => {
    const transcript = '[user (alice) (continued)]\na\n\n[result of read (continued)]\nb';
    expect(parseTranscript(transcript)).toEqual([
      { role: 'user', tool: null, text: 'a' },
      { role: 'result', tool: 'read', text: 'b' },
    ]);
  });

  test('brackets inside a text are text', () => {
    const text = 'see\n[user]\nnot a label\n\n[image]\n\n[TODO] later\n\n[users]\nthree';
    expect(parseTranscript(`[user]\n${text}`)).toEqual([{ role: 'user', tool: null, text }]);
  });

  test('a message without text stays, an empty transcript has none', () => {
    expect(parseTranscript('[assistant calls ping]\n\n\n[user]\nx')).toEqual([
      { role: 'call', tool: 'ping', text: '' },
      { role: 'user', tool: null, text: 'x' },
    ]);
    expect(parseTranscript('')).toEqual([]);
    expect(parseTranscript('\n \n\n')).toEqual([]);
  });
});
