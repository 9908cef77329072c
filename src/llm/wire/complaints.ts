import type { WireOptions } from './options.js';

/** What an endpoint says when it refuses a form of messages, and what it wants instead. */
const COMPLAINTS: readonly { readonly says: RegExp; readonly wants: WireOptions }[] = [
  {
    says: /roles? must alternate|cannot have 2 or more assistant messages/i,
    wants: { strictAlternation: true },
  },
  { says: /unexpected role '?user'? after role '?tool/i, wants: { bridgeToolToUser: true } },
  {
    says: /must start with a user message|comes? immediately after a user turn|first message must (?:be|use) .*user/i,
    wants: { firstUser: true },
  },
  {
    says: /system message must be (?:at the beginning|the first)|only one system message|multiple system messages/i,
    wants: { singleSystem: true },
  },
  {
    says: /invalid type: sequence, expected a string|content\S* (?:must be|should be|input should be) a (?:valid )?string|content: input should be a valid string/i,
    wants: { stringContent: true },
  },
  {
    says: /tool.?call.?id.{0,40}(?:length of 9|maximum length|too long|must match|must be a-z)/i,
    wants: { shortCallIds: true },
  },
  {
    says: /property 'messages\.?\[?\d*\]?\.?name'|unsupported.{0,30}messages\S*\.name|'name' is unsupported/i,
    wants: { dropName: true },
  },
  {
    says: /(?:unknown name|extra inputs?|unsupported|unrecognized)\W.{0,60}\breasoning(?:_content|_details)?\b/i,
    wants: { stripReasoning: true },
  },
  {
    says: /content.{0,40}(?:cannot|must not|may not) be null|content: none is not an allowed value/i,
    wants: { emptyStringWithCalls: true },
  },
];

/**
 * The options that a complaint asks for; null when it is about something else. An endpoint need complain only
 * once: the caller keeps what came of it for that endpoint and model.
 *
 * @param text the message of a refused request, as the endpoint wrote it
 */
export function wantedByComplaint(text: string): WireOptions | null {
  const wanted = COMPLAINTS.filter(({ says }) => says.test(text)).map(({ wants }) => wants);
  return wanted.length === 0 ? null : Object.assign({}, ...wanted);
}
