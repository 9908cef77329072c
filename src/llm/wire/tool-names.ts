import { shortId } from './short-id.js';

/**
 * What every server takes: letters, digits, `_` and `-`, 64 at most. Some want a letter or `_` in front.
 */
const PORTABLE = /^[A-Za-z_][\w-]{0,63}$/;
const READABLE_LENGTH = 50;

/** The names of tools as a server takes them, and back. */
export interface WireToolNames {
  /** The name to send, in definitions and in messages alike. One that is portable already stays. */
  readonly toWire: (name: string) => string;
  /** The tool that a reply means. A name that was not sent is given back as it is. */
  readonly fromWire: (name: string) => string;
}

/**
 * Servers refuse a whole request because of one tool named `files.read`, or with a name of 70 letters. Such a
 * name is replaced by one that still reads like it, with a hash behind it that tells it from others.
 *
 * A name's replacement depends on the name alone, so that a history and the definitions sent with it agree. Only
 * one that is the name of another of these tools is replaced by a further one: no two of them are ever the same.
 */
export function wireToolNames(names: readonly string[]): WireToolNames {
  const sent = new Map<string, string>();
  const meant = new Map<string, string>();
  const put = (name: string, wire: string) => {
    sent.set(name, wire);
    meant.set(wire, name);
  };
  for (const name of names) if (isPortable(name)) put(name, name);
  for (const name of names) {
    if (sent.has(name)) continue;
    let wire = portable(name, name);
    for (let attempt = 1; meant.has(wire); attempt += 1) wire = portable(name, `${attempt}:${name}`);
    put(name, wire);
  }
  return {
    toWire: (name) => sent.get(name) ?? (isPortable(name) ? name : portable(name, name)),
    fromWire: (name) => meant.get(name) ?? name,
  };
}

function isPortable(name: string): boolean {
  return PORTABLE.test(name);
}

function portable(name: string, seed: string): string {
  const readable = name.replace(/[^\w-]+/g, '_').slice(0, READABLE_LENGTH);
  return `${/^[A-Za-z_]/.test(readable) ? '' : '_'}${readable}_${shortId(seed)}`;
}
