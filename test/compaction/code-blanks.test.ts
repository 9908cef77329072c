import fc from 'fast-check';
import { expect, it } from 'vitest';
import { withoutCode } from '../../src/compaction/code-blanks.js';

/** What code is, as one pattern, which takes far too long on hostile text. */
const CODE = /^(`{3,}|~{3,})[^\n]*\n[\s\S]*?^\1[^\n]*$|`[^`\n]+`/gm;

it('blanks fenced blocks and spans as the pattern does', () => {
  const pieces = fc.constantFrom('`', '```', '~~~', '````', '~~~~~', '\n', '\n', 'a', ' ', 'sh');
  fc.assert(
    fc.property(fc.array(pieces, { maxLength: 24 }), (list) => {
      const text = list.join('');
      expect(withoutCode(text)).toBe(text.replace(CODE, (code) => code.replace(/[^\n]/g, ' ')));
    }),
    { numRuns: 2_000 },
  );
});
