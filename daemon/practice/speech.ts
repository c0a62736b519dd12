/** What a model says, piece by piece. A text or thinking piece counts as one token. */
export type Piece =
  | { readonly kind: 'text'; readonly text: string }
  | { readonly kind: 'thinking'; readonly text: string }
  /** Whole calls, on a line of their own or in the line with `done`. */
  | { readonly kind: 'calls'; readonly calls: readonly Call[]; readonly inLastLine?: boolean }
  /** Tokens that are counted but never sent, as when the runner cannot read a call. */
  | { readonly kind: 'lost'; readonly tokens: number }
  /** An error: with its own status if nothing was sent yet, otherwise as the last line of a stream with status 200. */
  | { readonly kind: 'failure'; readonly message: string; readonly status?: number }
  /** The stream ends without `done`. */
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

/** What a model is asked. `generate` has one user message, and the text around the hole if there is a hole to fill. */
export interface Prompt {
  readonly model: string;
  readonly messages: readonly PromptMessage[];
  readonly tools: readonly PromptTool[];
  readonly think: boolean;
  /** `json`, a JSON Schema, or nothing. */
  readonly format?: unknown;
  readonly hole?: { readonly prefix: string; readonly suffix: string };
  /** Aborted as soon as nobody listens. */
  readonly signal: AbortSignal;
}

export type Speaker = (prompt: Prompt) => Iterable<Piece> | AsyncIterable<Piece>;

/** An estimate that is good enough to fill windows: four characters are about one token. */
export function countTokens(text: string): number {
  return Math.ceil(text.length / 4);
}

/** Splits text into pieces as a model would say it: each word with the blanks before it. */
export function splitTokens(text: string): readonly string[] {
  return text.match(/\s*\S+|\s+$/g) ?? [];
}
