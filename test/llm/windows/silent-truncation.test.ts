import { describe, expect, it } from 'vitest';
import { leastTokens } from '../../../src/llm/windows/least-tokens.js';
import { silentTruncation } from '../../../src/llm/windows/silent-truncation.js';

const times = (count: number, text: string) => text.repeat(count);

/**
 * Texts with the chars per token that the o200k tokenizer makes of them, measured with the `gpt-tokenizer` package:
 * the tokenizer with the fewest tokens for most languages.
 */
const MEASURED: readonly (readonly [string, string, number])[] = [
  [
    'English',
    times(200, 'We met on Monday to talk about the new contract, and the price is still open. '),
    4.6,
  ],
  [
    'English of long words',
    times(
      100,
      'The committee agreed that international cooperation regarding environmental responsibility represents an unprecedented organizational opportunity for governmental institutions everywhere. ',
    ),
    9.87,
  ],
  [
    'Chinese',
    times(200, '你好，我的名字是安娜。我是一名新员工，很高兴认识你。明天早上我们必须把新合同发给所有客户。'),
    1.41,
  ],
  [
    'Japanese',
    times(
      200,
      'こんにちは、私の名前はアンナです。新しい社員です。明日の朝までに、すべてのお客様に新しい契約書を送らなければなりません。',
    ),
    1.43,
  ],
  [
    'Korean',
    times(
      200,
      '안녕하세요, 제 이름은 안나입니다. 저는 신입 사원입니다. 내일 아침까지 모든 고객에게 새 계약서를 보내야 합니다.',
    ),
    2,
  ],
  [
    'Hindi',
    times(
      200,
      'मैं एक नए प्रकार का भाषा मॉडल हूँ। आपसे मिलकर अच्छा लगा! हमें कल सुबह तक सभी ग्राहकों को नया अनुबंध भेजना होगा।',
    ),
    3.3,
  ],
  [
    'Russian',
    times(
      200,
      'Привет, меня зовут Анна. Я новая сотрудница отдела, приятно познакомиться! Завтра утром мы должны отправить всем клиентам новый договор. ',
    ),
    4.25,
  ],
  ['Thai', times(200, 'พรุ่งนี้เช้าเราต้องส่งสัญญาใหม่ให้ลูกค้าทุกคน ยินดีที่ได้รู้จัก '), 2.7],
  [
    'Georgian',
    times(
      200,
      'გამარჯობა, ჩემი სახელია ანა. ხვალ დილამდე ყველა მომხმარებელს უნდა გავუგზავნოთ ახალი ხელშეკრულება. ',
    ),
    3.3,
  ],
  [
    'base64',
    Buffer.from(Array.from({ length: 9_000 }, (_, i) => (i * 7_919 * 31) % 251)).toString('base64'),
    1.46,
  ],
  [
    'JSON',
    times(
      200,
      '{"id": 48213, "name": "Anna Berg", "created_at": "2026-06-04T14:38:31Z", "tags": ["a", "b"]}\n',
    ),
    2.9,
  ],
  ['a table', times(300, '| name                 |      value |\n'), 5.43],
  ['indented lines', times(400, `${' '.repeat(60)}x\n`), 20.7],
  ['rules', times(400, `${'='.repeat(80)}\n`), 40.5],
  ['emoji', times(2_000, '🎉🚀😀👍'), 1.33],
];

describe('no false alarm', () => {
  it.each(MEASURED)('for %s', (_name, text, charsPerToken) => {
    const promptTokens = Math.floor(text.length / charsPerToken);
    expect(silentTruncation({ texts: [text], promptTokens, windowTokens: 1_000_000 })).toBeNull();
  });

  it('without usage, and for short prompts', () => {
    const text = times(1_000, 'some words ');
    expect(silentTruncation({ texts: [text], promptTokens: null, windowTokens: null })).toBeNull();
    expect(silentTruncation({ texts: ['some words'], promptTokens: 1, windowTokens: 4_096 })).toBeNull();
  });

  it('for a prompt a little below the window', () => {
    const text = times(1_860, 'some words ');
    expect(silentTruncation({ texts: [text], promptTokens: 4_095, windowTokens: 4_096 })).toBeNull();
  });
});

describe('an alarm', () => {
  const text = times(4_000, 'They sent a mail. ');
  const expectedTokens = leastTokens(text);

  it('when the count is far below the fewest tokens that the prompt can have', () => {
    expect(expectedTokens).toBe(18_000);
    const below = (promptTokens: number) =>
      silentTruncation({
        texts: [text.slice(0, 30_000), text.slice(30_000)],
        promptTokens,
        windowTokens: null,
      });
    expect(below(10_800)).toBeNull();
    expect(below(4_095)).toMatchObject({ kind: 'far_below', promptTokens: 4_095 });
    expect(silentTruncation({ texts: [text], promptTokens: 10_799, windowTokens: null })).toEqual({
      kind: 'far_below',
      promptTokens: 10_799,
      expectedTokens,
    });
  });

  it('when the count is exactly the window, whatever the prompt', () => {
    expect(silentTruncation({ texts: ['short'], promptTokens: 4_096, windowTokens: 4_096 })).toEqual({
      kind: 'at_window',
      promptTokens: 4_096,
      windowTokens: 4_096,
    });
  });

  it.each(MEASURED.filter(([name]) => ['English', 'Chinese', 'Japanese', 'Russian'].includes(name)))(
    'when a third of it was read: %s',
    (_name, whole, charsPerToken) => {
      const promptTokens = Math.floor(whole.length / charsPerToken / 3);
      expect(silentTruncation({ texts: [whole], promptTokens, windowTokens: null })?.kind).toBe('far_below');
    },
  );
});

it.each([
  ['', 0],
  ['天地玄黄宇宙洪荒', 4],
  ['안녕하세요제이름', 4],
  ['one two three', 3],
  ['internationalization international', 2],
  ['a'.repeat(40), 0],
  ['abcdefghijklmnopqrstuvwx', 6],
  ['1234567890123456', 4],
  [' '.repeat(1_000), 0],
])('the fewest tokens of %j are %i', (text, tokens) => {
  expect(leastTokens(text)).toBe(tokens);
});

it('the estimate takes milliseconds for a megabyte', () => {
  const text = times(100_000, 'some words ');
  leastTokens(text);
  const started = performance.now();
  leastTokens(text);
  expect(performance.now() - started).toBeLessThan(100);
});
