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
  /** Sends text as a string wherever nothing but text is in it; lists of parts stay for images and the like. */
  readonly stringContent?: boolean;
  /** Gives every call an id of 9 letters and digits, unique in the list. */
  readonly shortCallIds?: boolean;
  /** Drops `name` from messages. */
  readonly dropName?: boolean;
  /** Puts a short user line before a conversation that begins with an assistant message. */
  readonly firstUser?: boolean;
  /** Drops what a reasoning model thought. */
  readonly stripReasoning?: boolean;
}

/** What the strictest servers ask for, all at once. */
export const STRICT_WIRE: WireOptions = {
  strictAlternation: true,
  singleSystem: true,
  stringContent: true,
  shortCallIds: true,
  dropName: true,
  stripReasoning: true,
};
