import type { ChatMessage } from '../../src/compaction/measure.js';
import { type ModelStub, type StubScript, startModelStub } from '../support/model-stub.js';
import { modelAt, type SessionBody, startService, type TestService } from '../support/service.js';

/** What the cases have in common. The framing of the summary is written out here, not taken from the service. */

/** The user half of the summary's pair. */
export const summaryOf = (summary: string): ChatMessage => ({
  role: 'user',
  content: `[Summary of previous conversation]\n\n${summary}\n\n[End of summary: a record of what was said and done, not a new request.]`,
});

/** The assistant half of the summary's pair. */
export const ACKNOWLEDGED: ChatMessage = {
  role: 'assistant',
  content: 'Understood. I have the context of our previous conversation.',
};

/** An assistant message with one tool call. */
export function callOf(
  id: string,
  name: string,
  args: string,
  content: string | null = null,
): ChatMessage & { readonly role: 'assistant' } {
  return {
    role: 'assistant',
    content,
    tool_calls: [{ id, type: 'function', function: { name, arguments: args } }],
  };
}

/** Answers S1, S2, and so on. */
export const numbered: StubScript = (_prompt, index) => ({ content: `S${index + 1}` });

/** The service in front of a stubbed model. */
export async function startWithModel(
  script: StubScript = numbered,
  variables: Readonly<Record<string, string>> = {},
): Promise<{ stub: ModelStub; service: TestService }> {
  const stub = await startModelStub(script);
  return { stub, service: await startService(modelAt(stub.url, variables)) };
}

export async function sessionOf(service: TestService, id: string): Promise<SessionBody> {
  return (await service.call('GET', `/sessions/${id}`)).body;
}

/** All that a client can see of a session, to find out whether anything changed. */
export async function stateOf(service: TestService, id: string) {
  const { body: compactions } = await service.call('GET', `/sessions/${id}/compactions`);
  return { session: await sessionOf(service, id), messages: await service.messages(id), compactions };
}

export async function append(service: TestService, id: string, ...messages: ChatMessage[]): Promise<void> {
  const { status, text } = await service.call('POST', `/sessions/${id}/messages`, { messages });
  if (status !== 201) throw new Error(text);
}

/** The suffix of the tags in a summary request. The first tag is the service's own: its words come before it. */
export const fenceOf = (prompt: string | undefined): string =>
  /<\w+-([0-9a-f]+)>/.exec(prompt ?? '')?.[1] ?? '';

/** The quoted text of that name in a summary request; null without one. */
export function quoted(prompt: string | undefined, name: 'summary' | 'transcript' | 'wishes'): string | null {
  const fence = fenceOf(prompt);
  return new RegExp(`<${name}-${fence}>\n(.*?)\n</${name}-${fence}>`, 's').exec(prompt ?? '')?.[1] ?? null;
}

/** A summary request without what it quotes: what the service itself says. */
export function ownWords(prompt: string | undefined): string {
  const fence = fenceOf(prompt);
  return (prompt ?? '').replace(new RegExp(`<(\\w+)-${fence}>\n.*?\n</\\1-${fence}>`, 'gs'), '<$1>');
}

/** The transcript that a summary request should quote: label and text of each message, in order. */
export const transcriptOf = (...blocks: (readonly [label: string, text: unknown])[]): string =>
  blocks.map(([label, text]) => `[${label}]\n${text}`).join('\n\n');
