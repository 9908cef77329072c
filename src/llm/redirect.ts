import type { IncomingHttpHeaders } from 'node:http';
import { SUFFIX } from './completions-url.js';

/** Following one would lose the body of the request, or carry the key to another host. */
export function isRedirect(status: number): boolean {
  return status >= 300 && status < 400;
}

/**
 * One sentence about a redirect, for whoever sets the base URL: the one to set, where the redirect keeps the path
 * of chat completions, else only where it leads (a page to log in, for instance). Of the address neither query nor
 * credentials are shown. To be cleaned like all that an endpoint says.
 */
export function describeRedirect(status: number, headers: IncomingHttpHeaders, url: URL): string {
  const what = `The model endpoint answered ${status}, a redirect`;
  const target = targetOf(headers, url);
  if (target === null) return `${what}; redirects are not followed; check the base URL`;
  const shown = `${target.origin}${target.pathname}`;
  return shown.endsWith(SUFFIX)
    ? `${what}; redirects are not followed; set the base URL to ${shown.slice(0, -SUFFIX.length)}`
    : `${what} to ${shown}; redirects are not followed; check the base URL`;
}

function targetOf({ location }: IncomingHttpHeaders, url: URL): URL | null {
  if (location === undefined || !URL.canParse(location, url.href)) return null;
  const target = new URL(location, url.href);
  return target.protocol === 'http:' || target.protocol === 'https:' ? target : null;
}
