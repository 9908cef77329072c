/** A shorter piece of an encoded secret might be part of any text, in chars. */
const SHORTEST_ENCODED = 8;

/**
 * The forms in which a secret may come back in an answer: as it is, in base64, also as a part of something longer
 * (`user:secret`), and in hex. What a mask of texts finds by itself is none of them: escapes, and the other case.
 */
export function secretForms(secrets: readonly string[]): readonly string[] {
  const forms = secrets.flatMap((secret) => [
    secret,
    ...encodings(secret).filter((form) => form.length >= SHORTEST_ENCODED),
  ]);
  return [...new Set(forms)].toSorted((a, b) => b.length - a.length);
}

function encodings(secret: string): string[] {
  const text = secret.toWellFormed();
  // Headers are sent as Latin-1.
  return [Buffer.from(text, 'utf8'), Buffer.from(text, 'latin1')].flatMap((bytes) => [
    ...base64Forms(bytes),
    bytes.toString('hex'),
  ]);
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
