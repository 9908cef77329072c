import { readFileSync } from 'node:fs';
import type { Benchmark } from './lib/benchmark.js';
import { built } from './lib/built.js';
import { information, ms, msBelow } from './lib/report.js';
import { interleaved, medianTime } from './lib/statistics.js';

const ROUNDS = 5;
const CHARS = 400_000;
/** For 10,000 chars. */
const MOST_MS = 1;

/** Estimating the tokens of new text, of text known already, and counting them with the exact encoder. */
export const tokens: Benchmark = {
  name: 'tokens',
  async run() {
    const { createTokenEstimator } =
      await built<typeof import('../src/tokens/estimate.js')>('tokens/estimate.js');
    const { clearMergeCache, countTokens } = await import('gpt-tokenizer/encoding/o200k_base');
    const estimator = await createTokenEstimator();
    const texts = {
      JSON: readFileSync(new URL('../openapi/openapi.json', import.meta.url), 'utf8'),
      'one letter': 'a',
      Chinese: '服务器在凌晨两点左右失去响应，值班工程师检查后发现是机房的网络交换机出了故障。',
      base64: readFileSync(new URL('../package-lock.json', import.meta.url)).toString('base64'),
    };
    const rows = [];
    for (const [name, text] of Object.entries(texts)) {
      const long = text.repeat(Math.ceil(CHARS / text.length)).slice(0, CHARS);
      let turn = 0;
      const per10k = async (work: () => void) => (await medianTime(3, async () => work())) / (CHARS / 10_000);
      // A text that begins differently is new to the memo; one letter at the end would be found by its length only.
      const times = await interleaved(ROUNDS, {
        fresh: () =>
          per10k(() => {
            turn += 1;
            estimator.ofText(`${turn} ${long}`);
          }),
        known: () => per10k(() => estimator.ofText(long)),
        // The encoder's time grows with the square of a run: 10,000 chars are enough to wait for.
        exact: () =>
          medianTime(1, async () => {
            clearMergeCache();
            countTokens(long.slice(0, 10_000));
          }),
      });
      const measured = `new ${ms(times.fresh)}, known ${ms(times.known)} per 10,000 chars`;
      rows.push(msBelow(`tokens, ${name}`, measured, times.fresh, MOST_MS));
      rows.push(information(`tokens, ${name}, exact encoder`, ms(times.exact), times.exact / times.fresh));
    }
    return rows;
  },
};
