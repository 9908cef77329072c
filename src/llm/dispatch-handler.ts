import type { Dispatcher } from 'undici';

/**
 * The same handler, with a call before the one with which undici starts a request on a connected socket. undici
 * has two handler interfaces, and which one it passes here is its own affair; both are covered.
 */
export function onRequestStart(
  handler: Dispatcher.DispatchHandler,
  started: () => void,
): Dispatcher.DispatchHandler {
  return new Proxy(handler, {
    get(target, key) {
      const value: unknown = Reflect.get(target, key, target);
      if (typeof value !== 'function') return value;
      return (...args: unknown[]): unknown => {
        if (key === 'onConnect' || key === 'onRequestStart') started();
        return Reflect.apply(value, target, args);
      };
    },
  });
}
