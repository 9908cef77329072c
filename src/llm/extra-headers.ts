/** Header names are tokens, and values hold no line breaks: anything else could smuggle in a second header. */
const NAME = /^[!#$%&'*+.^_`|~0-9A-Za-z-]+$/;
const VALUE = /^[\t\x20-\x7e\x80-\xff]*$/;
/**
 * The connection's own, and those that decide how the bodies of request and answer are framed, checked and read: any
 * other value would break every request.
 */
const OWN_HEADERS: readonly string[] = [
  'accept-encoding',
  'connection',
  'content-digest',
  'content-encoding',
  'content-length',
  'content-md5',
  'content-range',
  'content-transfer-encoding',
  'content-type',
  'digest',
  'expect',
  'host',
  'http2-settings',
  'keep-alive',
  'proxy-authorization',
  'proxy-connection',
  'range',
  'repr-digest',
  'te',
  'trailer',
  'transfer-encoding',
  'upgrade',
];

/** What is wrong with a configured header, as the end of a sentence; null when nothing is. Names no value. */
export function headerFault(name: string, value: string): string | null {
  if (!NAME.test(name)) return 'holds a name that no header can have';
  if (OWN_HEADERS.includes(name.toLowerCase())) return `must not set ${name.toLowerCase()}`;
  return VALUE.test(value) ? null : `holds a value for ${name.toLowerCase()} that no header can have`;
}

/**
 * What is wrong with an API key, as the end of a sentence that repeats nothing of it; null when nothing is. A key
 * is sent in a header, so that a line break in the middle, for instance, would make every request fail.
 */
export function keyFault(key: string): string | null {
  return VALUE.test(key)
    ? null
    : 'holds a character that no header can have: a line break, a control character, or one above U+00FF';
}
