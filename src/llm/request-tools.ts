/** A function that the model may call, as OpenAI's chat completions take it. Sent as it is. */
export interface ChatTool {
  readonly type: 'function';
  readonly function: {
    readonly name: string;
    readonly description?: string;
    /** A JSON schema; without one the function takes no arguments. */
    readonly parameters?: Readonly<Record<string, unknown>>;
    readonly strict?: boolean | null;
  };
}

/** Advisory: several servers ignore it, and where it is refused it is left out. */
export type ToolChoice =
  | 'auto'
  | 'none'
  | 'required'
  | { readonly type: 'function'; readonly function: { readonly name: string } };

export interface ToolFields {
  readonly tools?: readonly ChatTool[] | undefined;
  readonly toolChoice?: ToolChoice | undefined;
}

type Fields = Readonly<Record<string, unknown>>;

/**
 * The fields with the tools among them. An empty list is refused by OpenAI, DeepSeek and vLLM, and options of tools
 * without any tools by more, so that without tools none of these is sent, also where they are configured.
 */
export function sentTools(fields: Fields, { tools = [], toolChoice }: ToolFields): Fields {
  if (tools.length > 0) {
    return { ...fields, tools, ...(toolChoice === undefined ? {} : { tool_choice: toolChoice }) };
  }
  const { tool_choice: _choice, parallel_tool_calls: _parallel, ...rest } = fields;
  return rest;
}
