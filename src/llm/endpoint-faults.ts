import { baseUrlFault } from './completions-url.js';
import { keyFault } from './extra-headers.js';
import { extraBodyIn, extraHeadersIn } from './extra-settings.js';

/** The settings of both roles, by the names of their variables; absent where empty. */
type Settings = Readonly<Record<string, string | undefined>>;
type Check = (value: string) => string | null;

const extrasFault =
  (read: typeof extraHeadersIn | typeof extraBodyIn): Check =>
  (value) => {
    const result = read(value);
    return 'fault' in result ? result.fault : null;
  };

/** What no schema of a text can say. In the order in which faults are listed. */
const CHECKS: readonly (readonly [variable: string, Check])[] = [
  ['OPENAI_BASE_URL', baseUrlFault],
  ['OPENAI_API_KEY', keyFault],
  ['MAIN_EXTRA_HEADERS', extrasFault(extraHeadersIn)],
  ['MAIN_EXTRA_BODY', extrasFault(extraBodyIn)],
  ['COMPACT_BASE_URL', baseUrlFault],
  ['COMPACT_API_KEY', keyFault],
  ['COMPACT_EXTRA_HEADERS', extrasFault(extraHeadersIn)],
  ['COMPACT_EXTRA_BODY', extrasFault(extraBodyIn)],
];

/** What is wrong with the settings of the endpoints, one line each that begins with the variable; no values. */
export function endpointFaults(settings: Settings): string[] {
  const faults = CHECKS.flatMap(([variable, check]) => {
    const value = settings[variable];
    const fault = value === undefined ? null : check(value);
    return fault === null ? [] : [`${variable}: ${fault}`];
  });
  if (settings['COMPACT_FALLBACK'] === 'main' && settings['MAIN_MODEL'] === undefined) {
    faults.push('COMPACT_FALLBACK: main has no model: set MAIN_MODEL, or leave this empty');
  }
  return faults;
}
