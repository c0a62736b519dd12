/** What a model says, piece by piece; a text or thinking piece counts as one token. */
export type Piece =
  | { readonly kind: 'text'; readonly text: string }
  | { readonly kind: 'thinking'; readonly text: string }
  /** Whole calls on a line of their own, or inside of the line that says `done`. */
  | { readonly kind: 'calls'; readonly calls: readonly Call[]; readonly inLastLine?: boolean }
  /** Tokens that are counted and never seen: a call that the runner cannot read vanishes so. */
  | { readonly kind: 'lost'; readonly tokens: number }
  /** An error: with its status where nothing was sent yet, else a last line in a stream with status 200. */
  | { readonly kind: 'failure'; readonly message: string; readonly status?: number }
  /** The stream just ends, without `done`. */
  | { readonly kind: 'cut' }
  /** The connection is lost. */
  | { readonly kind: 'crash' };

export interface Call {
  readonly id?: string;
  readonly name: string;
  readonly arguments: Readonly<Record<string, unknown>>;
}

export interface PromptMessage {
  readonly role: string;
  readonly content: string;
  readonly toolName: string;
  readonly images: number;
}

export interface PromptTool {
  readonly name: string;
  readonly description: string;
  readonly parameters: Readonly<Record<string, unknown>>;
}

/** What a model is asked. `generate` has one user message, and the text around a hole where one is to be filled. */
export interface Prompt {
  readonly model: string;
  readonly messages: readonly PromptMessage[];
  readonly tools: readonly PromptTool[];
  readonly think: boolean;
  /** `json`, a JSON Schema, or nothing. */
  readonly format?: unknown;
  readonly hole?: { readonly prefix: string; readonly suffix: string };
  /** Aborted as soon as nobody listens any more. */
  readonly signal: AbortSignal;
}

export type Speaker = (prompt: Prompt) => Iterable<Piece> | AsyncIterable<Piece>;
