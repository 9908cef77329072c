import { expect, it } from 'vitest';
import { progressText, showProgress } from '../../src/cli/progress-bar.js';
import { tableLines } from '../../src/cli/table.js';
import { wrapText } from '../../src/cli/wrap-text.js';

it('a table aligns its columns to the right', () => {
  expect(
    tableLines(
      ['step', 'chars'],
      [
        ['1', '12,345'],
        ['10', '7'],
      ],
    ),
  ).toEqual(['step    chars', '----   ------', '   1   12,345', '  10        7']);
});

it('text is wrapped between words, under its bullet', () => {
  expect(wrapText('Goal\n- to Oslo and back in June', 18, '  ')).toEqual([
    '  Goal',
    '  - to Oslo and',
    '    back in June',
  ]);
  expect(wrapText('{"from":"Kiel","to":"Oslo"}', 20)).toEqual(['{"from":"Kiel",', '"to":"Oslo"}']);
  expect(wrapText(`abcdefghi${'\u{1f6a2}'.repeat(3)}`, 10)).toEqual(['abcdefghi', '\u{1f6a2}'.repeat(3)]);
});

it('progress tells bytes, sessions and messages', () => {
  const state = { bytes: 14_100_000, totalBytes: 28_200_000, sessions: 1, messages: 2_000 };
  expect(progressText(state, true)).toBe(
    '[############------------]  50%  14.1 MB of 28.2 MB  1 session  2,000 messages',
  );
  expect(progressText({ ...state, totalBytes: null }, false)).toBe('14.1 MB  1 session  2,000 messages');
});

it('progress leaves nothing but its lines where there is no terminal, and clears its bar where there is', () => {
  const state = () => ({ bytes: 0, totalBytes: 1, sessions: 0, messages: 0 });
  for (const isTTY of [false, true]) {
    const written: string[] = [];
    const progress = showProgress({ isTTY, write: (text) => written.push(text) }, state);
    progress.line('line 3: bad');
    progress.end();
    expect(written.join('')).toBe(isTTY ? '\r\u001b[Kline 3: bad\n\r\u001b[K' : 'line 3: bad\n');
  }
});
