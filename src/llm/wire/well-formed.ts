/**
 * Half an emoji, as `slice` leaves it, is a lone surrogate: strict parsers refuse the whole request because
 * of it, and then every later request with the same text. Each one becomes U+FFFD, wherever it stands: in
 * content, arguments, unknown fields, and names of fields.
 *
 * Nearly all messages are well-formed, so they are looked at first and copied only when they are not.
 */
export function wellFormed<Message extends object>(message: Message): Message {
  if (isWellFormed(message)) return message;
  const copy = structuredClone(message);
  repair(copy);
  return copy;
}

function isWellFormed(value: unknown): boolean {
  if (typeof value === 'string') return value.isWellFormed();
  if (typeof value !== 'object' || value === null) return true;
  if (Array.isArray(value)) return value.every(isWellFormed);
  return Object.entries(value).every(([key, member]) => key.isWellFormed() && isWellFormed(member));
}

/** Makes every string inside well-formed, in place. A field whose name changes moves to the end. */
function repair(holder: object): void {
  for (const [key, value] of Object.entries(holder)) {
    if (typeof value === 'object' && value !== null) repair(value);
    const name = key.toWellFormed();
    if (name !== key) Reflect.deleteProperty(holder, key);
    if (name !== key || typeof value === 'string') define(holder, name, value);
  }
}

/** Defined and not assigned: a field called `__proto__` is a field like any other. */
function define(holder: object, name: string, value: unknown): void {
  Reflect.defineProperty(holder, name, {
    value: typeof value === 'string' ? value.toWellFormed() : value,
    configurable: true,
    enumerable: true,
    writable: true,
  });
}
