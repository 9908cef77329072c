import { describe, expect, it } from 'vitest';
import { COLOURED, chartHead, chartLine, PLAIN } from '../../scripts/context-chart.js';
import { runCommand } from './run-command.js';

describe('npm run demo -- chat', { timeout: 60_000 }, () => {
  it('goes on over its limit again and again, and says what is stored', async () => {
    // Whatever the environment is set up for, only the example endpoint is asked.
    const env = { OPENAI_BASE_URL: 'http://127.0.0.1:9/v1', MAIN_MODEL: 'none', COMPACT_MODEL: 'none' };
    const run = await runCommand('npm', ['run', '--silent', 'demo', '--', 'chat'], { env });
    expect(run.stderr).toBe('');
    expect(run.code).toBe(0);
    const lines = run.stdout.split('\n');
    expect(Math.max(...lines.map((line) => line.length))).toBeLessThanOrEqual(100);
    const rows = lines.flatMap((line) => {
      const [, turn, tokens, before] = /^ +(\d+) +([\d,]+) .*?(?:compacted from ([\d,]+))?$/.exec(line) ?? [];
      const number = (text = '0') => Number(text.replace(',', ''));
      return turn === undefined
        ? []
        : [{ turn: number(turn), tokens: number(tokens), before: number(before) }];
    });
    expect(rows.map(({ turn }) => turn)).toEqual(Array.from({ length: 16 }, (_, index) => index + 1));
    expect(rows.every(({ tokens }) => tokens > 500 && tokens <= 3_000)).toBe(true);
    const compacted = rows.filter(({ before }) => before > 0);
    expect(compacted.length).toBeGreaterThan(2);
    expect(compacted.every(({ before, tokens }) => before > 3_000 && tokens < before)).toBe(true);
    expect(run.stdout).toContain('All 65 messages are stored, word for word.');
    expect(run.stdout).toContain('EUR 2,400 for everything both ways');
  });
});

describe('the chart', () => {
  const row = { turn: 3, tokens: 1_500, tokensBefore: null, note: 'Two berths\nto Oslo' };

  it('marks the limit in every line, and shades what was folded', () => {
    const lines = [
      chartHead(3_000, PLAIN),
      chartLine(row, 3_000, PLAIN),
      chartLine({ ...row, turn: 12, tokensBefore: 3_200 }, 3_000, PLAIN),
      chartLine({ ...row, tokens: 9_000 }, 3_000, PLAIN),
    ];
    const bar = (filled: number, shaded: number, more = 0) =>
      ['█'.repeat(filled), '░'.repeat(shaded)].join('').padEnd(32).concat('|', '█'.repeat(more));
    expect(lines).toEqual([
      'turn  tokens                       limit 3,000|',
      `   3   1,500  ${bar(16, 0)}          Two berths to Oslo`,
      `  12   1,500  ${bar(16, 16)}░░        compacted from 3,200`,
      `   3   9,000  ${bar(32, 0, 8)}  Two berths to Oslo`,
    ]);
  });

  it('has colours only where they are wanted', () => {
    expect(chartLine(row, 3_000, COLOURED)).toContain('\u001b[36m████');
    expect(chartLine(row, 3_000, PLAIN)).not.toContain('\u001b');
  });
});
