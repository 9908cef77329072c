import { addressingOf } from '../addressing.js';
import { createConnections } from '../connections.js';
import type { EndpointConfig } from '../endpoint.js';
import { type ProxyEnvironment, proxiesFor } from '../proxies.js';
import { type CleanText, createCleaner } from '../redact.js';
import { createHttpProbe, type HttpProbe } from './http-probe.js';
import { type ProbeUrls, probeUrls } from './probe-urls.js';

/** All that is needed to ask an endpoint something beside its chat. */
export interface EndpointProbe {
  readonly probe: HttpProbe;
  readonly urls: ProbeUrls;
  /** Where the chat's requests go. */
  readonly completions: URL;
  /** Takes every secret of the endpoint out of a text. */
  readonly clean: CleanText;
}

/**
 * A probe that reaches the endpoint as the chat does: same address, headers and proxies, over connections of its own,
 * so that it takes none from a call. Throws on settings that cannot be used.
 */
export function createEndpointProbe(
  endpoint: EndpointConfig,
  environment: ProxyEnvironment = process.env,
): EndpointProbe {
  const { url, headers, secrets } = addressingOf(endpoint);
  const proxies = proxiesFor(url, environment);
  return {
    probe: createHttpProbe(headers, createConnections(endpoint.connectTimeoutMs, proxies)),
    urls: probeUrls(url),
    completions: url,
    clean: createCleaner([...secrets, ...(proxies?.secrets ?? [])]),
  };
}
