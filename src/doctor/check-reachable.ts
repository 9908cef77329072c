import type { CleanText } from '../llm/redact.js';
import { isRedirect } from '../llm/redirect.js';
import type { ProbeFailure, ProbeResult } from '../llm/windows/http-probe.js';
import type { ChatAnswer } from './ask-chat.js';
import { type CheckResult, duration, failed, ok } from './check.js';
import type { Role } from './role.js';
import type { Timed } from './time-limit.js';

/** What the network gave. Any answer counts, also an error: then something is there that speaks HTTP. */
export function checkReachable(
  { settings }: Role,
  list: Timed<ProbeResult>,
  chat: Timed<ChatAnswer | ProbeFailure> | null,
  clean: CleanText,
): CheckResult {
  const answers: (readonly [string, number, number])[] = [];
  if (list.value.kind === 'answer') answers.push(['GET models', list.value.status, list.ms]);
  if (chat?.value.kind === 'answer') answers.push(['POST chat/completions', chat.value.status, chat.ms]);
  const good = answers.find(([, status]) => !isRedirect(status));
  if (good !== undefined) {
    const [what, status, ms] = good;
    return ok(`${what}: ${status} in ${duration(ms)}`);
  }
  const redirect = answers[0];
  if (redirect !== undefined) {
    return failed(
      `${redirect[0]}: ${redirect[1]}, a redirect, which is not followed`,
      `Set ${settings.baseUrl} to the address it leads to, often the same with https://`,
    );
  }
  const failure = [chat?.value, list.value].find((value) => value?.kind === 'failed');
  const message = failure?.kind === 'failed' ? failure.message : 'no answer';
  return failed(clean(message), adviceFor(message, settings.baseUrl));
}

function adviceFor(message: string, baseUrl: string): string {
  if (message === 'no answer in time') {
    return 'Look whether the server is busy or hangs; --timeout SECONDS waits longer';
  }
  if (/ECONNREFUSED/.test(message)) {
    return `Start the server, or correct host and port in ${baseUrl}; in a container, 127.0.0.1 is the container`;
  }
  if (/ENOTFOUND|EAI_AGAIN/.test(message)) return `Correct the host name in ${baseUrl}`;
  if (/certificate|self-signed/i.test(message)) {
    return 'Trust the certificate: NODE_EXTRA_CA_CERTS names a file with its authority';
  }
  return `Look whether ${baseUrl} names the right host, port and protocol`;
}
