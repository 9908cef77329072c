import type { WireToolNames } from './tool-names.js';

/**
 * What the clean-up does beyond the repairs that every endpoint can take. Everything here is off by default:
 * it costs something (roles, borders between turns, ids) and is switched on for an endpoint that asks for it,
 * by configuration or after it has complained.
 */
export interface WireOptions {
  /** Leaves `developer` as it is. Most servers know only `system`; those that know both take `system` too. */
  readonly keepDeveloper?: boolean;
  /**
   * `answer` gives each unanswered call a result that says that there is none. `keep` leaves the calls alone
   * when the list ends with them: their results are still to come.
   */
  readonly pendingCalls?: 'answer' | 'keep';
  /** Sends `""` instead of null as the content of an assistant message that only calls tools. */
  readonly emptyStringWithCalls?: boolean;
  /** Merges neighbours of one role; implies `bridgeToolToUser` and `firstUser`, without which roles do not alternate. */
  readonly strictAlternation?: boolean;
  /** Puts a short assistant line between a tool result and the user message that follows it. */
  readonly bridgeToolToUser?: boolean;
  /** Merges all system messages into one, in front. */
  readonly singleSystem?: boolean;
  /** Puts system text in front of the first user message; implies `singleSystem`. */
  readonly noSystemRole?: boolean;
  /** Sends text as a string wherever nothing but text is in it; lists of parts stay for images and the like. */
  readonly stringContent?: boolean;
  /** Puts words said beside calls into a message of their own, before the calls. */
  readonly textBeforeCalls?: boolean;
  /** Gives every call an id of 9 letters and digits. Ids are never empty and never the same, without this too. */
  readonly shortCallIds?: boolean;
  /** Gives functions names that all servers take, those of `toolNames` or else ones that depend on the name alone. */
  readonly portableNames?: boolean;
  /** The names of the tools that are sent along with the messages. */
  readonly toolNames?: WireToolNames;
  /** Drops `name` from messages; on results `resultNames` goes before. */
  readonly dropName?: boolean;
  /** Gives each result the name of the function that was called. */
  readonly resultNames?: boolean;
  /** Puts a short user line before a conversation that begins with an assistant message. */
  readonly firstUser?: boolean;
  /** Drops what a reasoning model thought. */
  readonly stripReasoning?: boolean;
}

/** The options that an endpoint can be found to want. */
export type WireSwitch = Exclude<keyof WireOptions, 'pendingCalls' | 'toolNames'>;

/** Whether an option is on, by itself or because another one implies it. */
export function isOn(options: WireOptions, name: WireSwitch): boolean {
  if (options[name] === true) return true;
  if (name === 'singleSystem') return options.noSystemRole === true;
  return (name === 'bridgeToolToUser' || name === 'firstUser') && options.strictAlternation === true;
}

/**
 * What the strictest servers ask for, all at once. Not in it is what costs meaning and few ask for, such as
 * doing without the system role: that is for an endpoint that complains.
 *
 * A list without a question, such as one of system messages alone or one that ends with the assistant, stays
 * without one: such servers refuse it, and `endsWithQuestion` tells before.
 */
export const STRICT_WIRE: WireOptions = {
  strictAlternation: true,
  singleSystem: true,
  stringContent: true,
  shortCallIds: true,
  portableNames: true,
  dropName: true,
  stripReasoning: true,
};
