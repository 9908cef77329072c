import { describe, expect, test } from 'vitest';
import { type ExtractRequest, extractSummary } from '../../src/summarizer/extract.js';
import { itemsUnder, type Line, transcriptOf } from './transcripts.js';

function summarize(transcript: string, rest: Partial<ExtractRequest> = {}): string {
  return extractSummary({ previousSummary: null, instructions: null, maxChars: 2000, ...rest, transcript });
}

describe('sections', () => {
  test('a booking in Portuguese', () => {
    const transcript = transcriptOf(
      [
        'user',
        'Olá! Preciso de dois lugares no ferry para Tróia, às 09:40. Não posso gastar mais de 18,20 €.',
      ],
      ['assistant calls search_ferry', '{"route":"SET-TRO"}'],
      ['result of search_ferry', '[{"id":"F-771","price":18.2}]'],
      ['assistant', 'Encontrei a viagem F-771. Deseja que eu reserve?'],
      ['user', 'Sim, por favor.'],
      ['assistant', 'Reservado com a referência K-114, cais 12. Quer receber o bilhete por correio?'],
    );
    expect(summarize(transcript)).toBe(
      [
        '## Goal',
        '- Olá! Preciso de dois lugares no ferry para Tróia, às 09:40.',
        '- Não posso gastar mais de 18,20 €.',
        '## Done',
        '- search_ferry {"route":"SET-TRO"} → [{"id":"F-771","price":18.2}]',
        '## In progress',
        '- Reservado com a referência K-114, cais 12.',
        '## Decisions',
        '- Encontrei a viagem F-771. Deseja que eu reserve? → Sim, por favor.',
        '## Open questions',
        '- Quer receber o bilhete por correio?',
      ].join('\n'),
    );
  });

  test('questions and answers in Arabic and Chinese', () => {
    const arabic = summarize(
      transcriptOf(
        ['user', 'أريد حجز غرفة في فندق النيل من 3 مارس إلى 7 مارس لشخصين.'],
        ['assistant', 'وجدت غرفة رقم 412 بسعر 110 دولارات. هل تريد أن أحجزها؟'],
        ['user', 'نعم'],
      ),
    );
    expect(itemsUnder(arabic, 'Decisions')).toEqual([
      'وجدت غرفة رقم 412 بسعر 110 دولارات. هل تريد أن أحجزها؟ → نعم',
    ]);
    const chinese = summarize(
      transcriptOf(
        ['user', '请帮我把服务器迁移到上海机房，必须在6月30日之前完成。'],
        ['assistant', '当前服务器是 web-03。可以安排在周六凌晨吗？'],
        ['user', '可以'],
        ['assistant', '数据库备份保存在 /backup/web-03.sql.gz。'],
      ),
    );
    expect(itemsUnder(chinese, 'Decisions')).toEqual(['当前服务器是 web-03。可以安排在周六凌晨吗？ → 可以']);
    expect(itemsUnder(chinese, 'In progress')).toEqual(['数据库备份保存在 /backup/web-03.sql.gz。']);
  });

  test('a counter-question decides nothing', () => {
    const summary = summarize(
      transcriptOf(
        ['user', 'Find a berth for the boat Aurora in June.'],
        ['assistant', 'Berth 12 is free. Shall I book it?'],
        ['user', 'What does berth 12 cost?'],
      ),
    );
    expect(itemsUnder(summary, 'Decisions')).toEqual([]);
    expect(itemsUnder(summary, 'Open questions')).toEqual(['What does berth 12 cost?']);
  });

  test('a failed call stands with its error, a call without a result is in progress', () => {
    const summary = summarize(
      transcriptOf(
        ['user', 'Please book flight HAT229 for me and my wife.'],
        ['assistant calls book', '{"flight":"HAT229"}'],
        ['result of book', 'Error: not enough seats on flight HAT229'],
        ['assistant', 'Flight HAT229 is full, so I try the next one.'],
        ['assistant calls book', '{"flight":"HAT230"}'],
      ),
    );
    expect(itemsUnder(summary, 'Done')).toEqual([
      'book {"flight":"HAT229"} → Error: not enough seats on flight HAT229',
    ]);
    expect(itemsUnder(summary, 'In progress')).toContain('book {"flight":"HAT230"}');
  });

  test('what the user asked last is the next step', () => {
    const summary = summarize(
      transcriptOf(
        ['user', 'Help me to plan the trip to Setúbal in June.'],
        ['assistant', 'The first ferry leaves at 09:40 from berth 12.'],
        ['user', 'Then book the ferry at 11:10 instead, with a place for the dog on the upper deck.'],
      ),
    );
    expect(itemsUnder(summary, 'Next steps')).toEqual([
      'Then book the ferry at 11:10 instead, with a place for the dog on the upper deck.',
    ]);
  });
});

describe('what is left out', () => {
  test('markers, and blobs where there is anything else', () => {
    const blob = 'QUJD'.repeat(200);
    const summary = summarize(
      transcriptOf(
        ['user', `Here is the picture of berth 12:\n[image]\n${blob}`],
        ['result of read', `[... 12,345 chars left out ...]\n${blob}\n${blob}`],
      ),
    );
    expect(summary).toBe('## Goal\n- Here is the picture of berth 12:');
  });

  test('most of a long tool output', () => {
    const output = Array.from({ length: 400 }, (_, n) => `row ${n} value ${n * 7} status ok`).join('\n');
    const summary = summarize(
      transcriptOf(
        ['user', 'Look through the log and tell me which rows are wrong.'],
        ['assistant calls read_log', '{"path":"/var/log/rows.log"}'],
        ['result of read_log', output],
        ['assistant', 'All 400 rows of /var/log/rows.log are fine.'],
      ),
      { maxChars: 1000 },
    );
    expect(summary).toContain('All 400 rows of /var/log/rows.log are fine.');
    expect(itemsUnder(summary, 'Facts')).toHaveLength(6);
  });

  test('a sentence that is said again', () => {
    const line: Line = ['assistant', 'The harbour office answers within 24 hours on every working day.'];
    const summary = summarize(transcriptOf(['user', 'When do they answer my letter?'], line, line, line));
    expect(summary.split('24 hours')).toHaveLength(2);
  });
});

describe('room', () => {
  const transcript = transcriptOf(
    ['user', 'Please keep berth 12 for the boat Aurora until Friday, 14 June, at 18:00.'],
    ['assistant', 'Berth 12 is kept under the reference K-114.'],
  );

  test('a tiny limit gets bare lines, cut at a word boundary', () => {
    expect(summarize(transcript, { maxChars: 50 })).toBe('Please keep berth 12 for the boat Aurora until…');
    expect(summarize(transcript, { maxChars: 1 })).toBe('…');
  });

  test('does not fill a large limit with chatter', () => {
    const chat = Array.from(
      { length: 200 },
      (_, n): Line => [
        n % 2 === 0 ? 'user' : 'assistant',
        `One can talk about subject number ${n} for a long time, and people often do so in the evening.`,
      ],
    );
    const summary = summarize(transcriptOf(...chat), { maxChars: 100_000 });
    expect(summary.length).toBeLessThan(transcriptOf(...chat).length / 4);
  });

  test('wishes of the caller bring sentences in', () => {
    const lines = Array.from(
      { length: 30 },
      (_, n): Line => [
        'assistant',
        n === 11 ? 'The cat sleeps on the sail.' : `Pier ${n} has the code PX-${n} and costs ${n * 3} EUR.`,
      ],
    );
    const many = transcriptOf(['user', 'Tell me about the piers, all of them.'], ...lines);
    expect(summarize(many, { maxChars: 400 })).not.toContain('cat');
    expect(
      summarize(many, { maxChars: 400, instructions: 'Keep everything on the cat and the sail' }),
    ).toContain('The cat sleeps on the sail.');
  });

  test('text without a single word still gives a summary', () => {
    expect(summarize('[user]\n…?!')).toBe('…?!');
    expect(summarize('[user]\n[image]')).toBe('[image]');
    expect(summarize('[user]\n👍')).toBe('## Goal\n- 👍');
    expect(summarize('')).toBe('');
  });
});
