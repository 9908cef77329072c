const MAY_BE_LONE = /\\u[dD][89a-fA-F]/;

/** A pair, half of one, or any other escape: the last so that an escaped backslash is not taken for the first. */
const ESCAPES =
  /\\u[dD][89abAB][\da-fA-F]{2}\\u[dD][c-fC-F][\da-fA-F]{2}|\\u[dD][89a-fA-F][\da-fA-F]{2}|\\./gs;

const LONE_LENGTH = '\\ud800'.length;

/**
 * JSON text in which no escape stands for half a surrogate pair. The text itself is well-formed, so nothing
 * sees it until a server parses the arguments that it holds, cannot write them as UTF-8, and fails. Such an
 * escape becomes that of U+FFFD, as a half pair outside an escape does.
 *
 * Works on the text and does not parse it, which would round integers beyond 2^53.
 *
 * @param json valid JSON: only there is every backslash the begin of an escape
 */
export function wellFormedEscapes(json: string): string {
  if (!MAY_BE_LONE.test(json)) return json;
  return json.replace(ESCAPES, (found) =>
    found.length === LONE_LENGTH && MAY_BE_LONE.test(found) ? '\\ufffd' : found,
  );
}
