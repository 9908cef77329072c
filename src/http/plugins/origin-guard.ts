import type { FastifyInstance, FastifyRequest } from 'fastify';
import fp from 'fastify-plugin';
import { AppError } from '../../errors.js';

/**
 * Keeps web pages away from a service without keys. A page in the user's browser can send requests to
 * loopback: its Origin or Sec-Fetch-Site gives it away, and a name of its own that resolves to 127.0.0.1
 * (DNS rebinding) shows in Host. The service's own pages, such as Swagger UI, come from its own origin.
 */
export const originGuard = fp<{ allowedHosts: readonly string[] }>(
  async (app: FastifyInstance, { allowedHosts }) => {
    const allowed = new Set(allowedHosts.map((host) => host.toLowerCase()));
    const anyHost = allowed.has('*');
    app.addHook('onRequest', async (request) => {
      const host = request.headers.host ?? '';
      const name = hostName(host);
      if (!anyHost && !isLoopback(name) && !allowed.has(name)) {
        throw new AppError(
          'FORBIDDEN_ORIGIN',
          `Host ${shown(host)} is neither loopback nor in ALLOWED_HOSTS`,
        );
      }
      const foreign = foreignOrigin(request, host, allowed);
      if (foreign !== null) throw new AppError('FORBIDDEN_ORIGIN', foreign);
    });
  },
  { name: 'origin-guard', fastify: '5.x' },
);

function foreignOrigin(request: FastifyRequest, host: string, allowed: ReadonlySet<string>): string | null {
  const { origin } = request.headers;
  if (origin !== undefined && allowed.has(hostName(originHost(origin)))) return null;
  if (origin !== undefined && originHost(origin) !== host.toLowerCase()) {
    return `Requests from the origin ${shown(origin)} are not allowed`;
  }
  // Links and images of other sites come without Origin and have no business here either.
  return request.headers['sec-fetch-site'] === 'cross-site' ? 'Cross-site requests are not allowed' : null;
}

/** `host:port` of an origin; '' for `null` and whatever else is not one. */
function originHost(origin: string): string {
  try {
    return new URL(origin).host;
  } catch {
    return '';
  }
}

/** The name in a Host header, without port and brackets, in lower case; '' when it is not one. */
function hostName(host: string): string {
  try {
    return new URL(`http://${host}`).hostname.replace(/^\[|\]$/g, '').toLowerCase();
  } catch {
    return '';
  }
}

export function isLoopback(name: string): boolean {
  return name === 'localhost' || name === '::1' || /^127\.\d{1,3}\.\d{1,3}\.\d{1,3}$/.test(name);
}

const shown = (text: string) => JSON.stringify(text.slice(0, 200));
