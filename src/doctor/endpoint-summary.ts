import { createModelSummarizer } from '../compaction/model-summarizer.js';
import { Room } from '../compaction/room.js';
import type { Summarizer } from '../compaction/summarizer.js';
import type { Config } from '../config.js';
import type { ChatClient } from '../llm/client.js';
import type { EndpointConfig } from '../llm/endpoint.js';
import type { Logger } from '../logger.js';

/** What the service would log is in the table. */
const SILENT: Logger = { info: () => {}, warn: () => {}, error: () => {} };

/** The summarizer of the service for an endpoint whose window is known to be this, in tokens; null for unknown. */
export function summarizerOf(
  client: ChatClient,
  endpoint: EndpointConfig,
  windowTokens: number | null,
  config: Config,
): Summarizer {
  const parts = { client, windows: null, chunkChars: config.summaryChunkChars, logger: SILENT };
  return createModelSummarizer({ ...parts, endpoint: { ...endpoint, windowTokens } }, endpoint.model);
}

/** Whether even a first summary would have too little room for text: the service refuses to write it then. */
export function hasRoom(summarizer: Summarizer, { summaryMaxChars }: Config): boolean {
  return !new Room({ summarizer, instructions: null, summaryMaxChars }).isTight(null);
}
