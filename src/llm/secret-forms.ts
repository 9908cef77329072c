/** A shorter piece of an encoded secret might be part of any text, in chars. */
const SHORTEST_ENCODED = 8;

/**
 * The forms in which a secret may come back in an answer, the longest first, since one may be part of another: as
 * it is, inside a JSON string, percent-encoded, and in base64, also as a part of something longer (`user:secret`).
 */
export function secretForms(secrets: readonly string[], shortest: number): readonly string[] {
  const forms = secrets
    .filter((secret) => secret.length >= shortest)
    .flatMap((secret) => [secret, ...encodings(secret).filter((form) => form.length >= SHORTEST_ENCODED)]);
  return [...new Set(forms)].toSorted((a, b) => b.length - a.length);
}

function encodings(secret: string): string[] {
  const text = secret.toWellFormed();
  const percent = encodeURIComponent(text);
  return [
    JSON.stringify(text).slice(1, -1),
    percent,
    percent.replace(/%[\dA-F]{2}/g, (code) => code.toLowerCase()),
    percent.replaceAll('%20', '+'),
    ...base64Forms(Buffer.from(text, 'utf8')),
    // Headers are sent as Latin-1.
    ...base64Forms(Buffer.from(text, 'latin1')),
  ];
}

/**
 * In base64 three bytes make four chars, so that what is written depends on how many bytes stand before: one form
 * for each of the three cases, without the chars at either end that also hold bits of the neighbours.
 */
function base64Forms(bytes: Buffer): string[] {
  return [0, 1, 2].flatMap((before) => {
    const encoded = Buffer.concat([Buffer.alloc(before), bytes]).toString('base64');
    const own = encoded.slice(Math.ceil((before * 8) / 6), Math.floor(((before + bytes.length) * 8) / 6));
    return [own, own.replaceAll('+', '-').replaceAll('/', '_')];
  });
}
