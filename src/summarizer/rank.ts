/** A line takes 20 chars of a summary at the least; with repetitions among them, twice as many are looked at. */
const CHARS_PER_CANDIDATE = 10;
const MIN_CANDIDATES = 500;

/**
 * The indexes from `start` on with the best scores, best first, equal ones in order, as many as could find a
 * place in `room` chars. A megabyte of short lines has some 100,000 drafts, of which only these are written.
 */
export function rankBest(scores: readonly number[], start: number, room: number): number[] {
  const count = Math.max(MIN_CANDIDATES, Math.ceil(room / CHARS_PER_CANDIDATE));
  const eligible = Float64Array.from(scores.slice(start)).sort();
  const threshold = eligible.at(-count) ?? Number.NEGATIVE_INFINITY;
  const best: { index: number; score: number }[] = [];
  scores.forEach((score, index) => {
    if (index >= start && score >= threshold) best.push({ index, score });
  });
  best.sort((a, b) => b.score - a.score || a.index - b.index);
  return best.slice(0, count).map(({ index }) => index);
}
