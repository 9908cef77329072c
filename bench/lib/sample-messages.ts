import type { ChatMessage } from '../../src/compaction/measure.js';

/** Deterministic conversations: the same size gives the same messages, on every machine. */

const WORDS = (
  'ferry berth harbour crew cargo manifest pilot engine deck schedule invoice customs weather route depot ' +
  'reads writes checks moves books cancels confirms needs sends keeps loads opens ' +
  'the a this every one our another for with after before under near without'
).split(' ');

/** Messages per turn: question, tool call, tool result, answer, thanks, reply. */
export const TURN_LENGTH = 6;
const SENTENCES = 2_000;
const TEXT_CHARS = 600;

/** Numbers below 2^31 that look random and always come the same (a linear congruential generator). */
function randomNumbers(seed: number): () => number {
  let state = seed;
  return () => {
    state = (Math.imul(state, 1_103_515_245) + 12_345) & 0x7fffffff;
    return state >>> 8;
  };
}

const sentences = (() => {
  const next = randomNumbers(7);
  return Array.from({ length: SENTENCES }, (_, index) => {
    const words = Array.from({ length: 8 + (next() % 8) }, () => WORDS[next() % WORDS.length] ?? '');
    const first = words[0] ?? '';
    return `${first.charAt(0).toUpperCase()}${words.join(' ').slice(1)} ${index} in src/quay-${next() % 97}.ts.`;
  });
})();

/** Text of about 600 chars. */
export function sampleText(index: number): string {
  const next = randomNumbers(index + 1);
  let text = '';
  while (text.length < TEXT_CHARS) text += `${text === '' ? '' : ' '}${sentences[next() % SENTENCES] ?? ''}`;
  return text;
}

/** The message at `seq`: two system messages, then turns of `TURN_LENGTH` with a tool group each. */
export function sampleMessage(seq: number): ChatMessage {
  const content = sampleText(seq);
  if (seq < 2) return { role: 'system', content };
  const turn = Math.floor((seq - 2) / TURN_LENGTH);
  const call = `call_${turn}`;
  switch ((seq - 2) % TURN_LENGTH) {
    case 1:
      return {
        role: 'assistant',
        content: null,
        tool_calls: [
          {
            id: call,
            type: 'function',
            function: { name: 'find_ferry', arguments: JSON.stringify({ query: content }) },
          },
        ],
      };
    case 2:
      return { role: 'tool', tool_call_id: call, content };
    case 0:
    case 4:
      return { role: 'user', content };
    default:
      return { role: 'assistant', content };
  }
}
