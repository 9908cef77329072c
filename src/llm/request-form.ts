/**
 * In which form a model's endpoint takes the optional parts of a request. OpenAI-compatible endpoints disagree
 * on them, and say so only by refusing a request; what was learned that way is kept as one of these.
 */
export interface RequestForm {
  /** The name under which the output cap is sent. Never both: that is refused too. Null where each was refused. */
  readonly capField: CapField | null;
  /** Largest output cap that the endpoint takes, in tokens; null while it has not complained. */
  readonly largestCap: number | null;
  /** False asks for a plain JSON reply. */
  readonly stream: boolean;
  readonly streamOptions: boolean;
  /** Configured extra fields that the endpoint refused. */
  readonly dropped: readonly string[];
}

export type CapField = 'max_tokens' | 'max_completion_tokens';

/** Understood by nearly all endpoints; `max_tokens` because several ignore the newer name without a word. */
export const FIRST_FORM: RequestForm = {
  capField: 'max_tokens',
  largestCap: null,
  stream: true,
  streamOptions: true,
  dropped: [],
};

/** One change of the form, made after the endpoint refused a request for one of its parameters. */
export type FormChange =
  | { readonly kind: 'rename_cap'; readonly to: CapField }
  /** `lasting` is false for a cap that only the length of this prompt made too large. */
  | { readonly kind: 'clamp_cap'; readonly to: number; readonly lasting: boolean }
  | { readonly kind: 'drop'; readonly parameter: DroppableParameter };

/** `cap` is the output cap, under either name. */
export type DroppableParameter =
  | 'cap'
  | 'stream'
  | 'stream_options'
  | 'temperature'
  | 'top_p'
  | 'tool_choice'
  | 'parallel_tool_calls';

export function changedForm(form: RequestForm, change: FormChange): RequestForm {
  switch (change.kind) {
    case 'rename_cap':
      return { ...form, capField: change.to };
    case 'clamp_cap':
      return { ...form, largestCap: change.to };
    case 'drop':
      if (change.parameter === 'cap') return { ...form, capField: null };
      if (change.parameter === 'stream') return { ...form, stream: false };
      if (change.parameter === 'stream_options') return { ...form, streamOptions: false };
      return { ...form, dropped: [...form.dropped, change.parameter] };
  }
}

/** One phrase for the log. */
export function describeChange(change: FormChange): string {
  switch (change.kind) {
    case 'rename_cap':
      return `sending the output cap as ${change.to}`;
    case 'clamp_cap':
      return `lowering the output cap to ${change.to}`;
    case 'drop':
      return `leaving out ${change.parameter === 'cap' ? 'the output cap' : change.parameter}`;
  }
}
