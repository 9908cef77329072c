import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { cutIntoFragments, splitSentences } from '../../src/summarizer/split-sentences.js';

const textsOf = (text: string): string[] => [...splitSentences(text)].map((piece) => piece.text);

describe('splitSentences', () => {
  test('splits at sentence ends and at line breaks', () => {
    expect(textsOf('The ferry leaves at 09:40 from berth 12. Bring the ref K-114.\n\nSecond line')).toEqual([
      'The ferry leaves at 09:40 from berth 12.',
      'Bring the ref K-114.',
      'Second line',
    ]);
  });

  test('knows the sentence ends of other scripts', () => {
    expect(
      textsOf(
        '私たちは来月の会議の資料を作ってほしいと思っています。締め切りは六月十四日の午後です。青は使わないでください。',
      ),
    ).toEqual([
      '私たちは来月の会議の資料を作ってほしいと思っています。',
      '締め切りは六月十四日の午後です。',
      '青は使わないでください。',
    ]);
    expect(textsOf('هل يمكنك حجز غرفة في فندق النيل من فضلك؟ أريدها لشخصين حتى يوم الخميس.')).toHaveLength(2);
  });

  test('never splits inside a URL or a path', () => {
    const line = 'Open https://example.test/page?Id=7!x and read ../Lib/Main.ts before you start on it';
    expect(textsOf(line)).toEqual([line]);
  });

  test('marks code, list items and fragments', () => {
    const long = `${'value, '.repeat(100)}end`;
    const pieces = [...splitSentences(`- one\n\`\`\`ts\nlet x = 1;\n\`\`\`\n${long}`)];
    expect(pieces[0]).toEqual({
      text: '- one',
      isCode: false,
      isFragment: false,
      isListItem: true,
      startsLine: true,
    });
    expect(pieces[1]).toMatchObject({ text: 'let x = 1;', isCode: true });
    expect(pieces.slice(2).every(({ isFragment }) => isFragment)).toBe(true);
    expect(
      pieces
        .slice(2)
        .map(({ text }) => text)
        .join(' '),
    ).toBe(long);
  });

  test('keeps every char but white space, in pieces of bounded length, across windows', () => {
    const unit = fc.constantFrom(
      'a',
      'Bc',
      ' ',
      '. ',
      '! ',
      '\n',
      '。',
      '漢字',
      '👍',
      '1.5',
      'x'.repeat(900),
    );
    fc.assert(
      fc.property(fc.array(unit, { maxLength: 60 }), (units) => {
        const text = units.join('');
        const pieces = textsOf(text);
        expect(pieces.join('').replace(/\s/gu, '')).toBe(text.replace(/\s/gu, ''));
        expect(Math.max(0, ...pieces.map(({ length }) => length))).toBeLessThanOrEqual(400);
        expect(pieces.every((piece) => piece.isWellFormed())).toBe(true);
      }),
    );
  });
});

describe('cutIntoFragments', () => {
  test('cuts at white space, after a comma where there is one', () => {
    expect(cutIntoFragments('{"name": "Ann", "berth": 12, "reference": "K-114"}', 40)).toEqual([
      '{"name": "Ann", "berth": 12,',
      '"reference": "K-114"}',
    ]);
  });

  test('cuts a run without spaces, but no surrogate pair', () => {
    expect(cutIntoFragments('👍'.repeat(30), 41)).toEqual(['👍'.repeat(20), '👍'.repeat(10)]);
  });
});
