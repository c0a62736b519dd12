import type { InstalledModel } from './modelStore.ts';

/** What a model says, piece by piece. A text or thinking piece counts as one token. */
export type SpeechPiece =
  | { readonly kind: 'text' | 'thinking'; readonly text: string }
  | { readonly kind: 'calls'; readonly calls: readonly Call[] };

export interface Call {
  readonly id: string;
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

/** The texts around a hole that a model fills. */
export interface Hole {
  readonly prefix: string;
  readonly suffix: string;
}

/** What a model is asked. `generate` has one user message, and the hole if there is one to fill. */
export interface PracticePrompt {
  readonly model: InstalledModel;
  readonly messages: readonly PromptMessage[];
  readonly tools: readonly PromptTool[];
  readonly think: boolean;
  /** `json`, a JSON Schema, or nothing. */
  readonly format?: unknown;
  readonly hole?: Hole;
  /** Aborted as soon as nobody listens. */
  readonly signal: AbortSignal;
}

export type Speaker = (prompt: PracticePrompt) => Iterable<SpeechPiece> | AsyncIterable<SpeechPiece>;

/** An estimate that is good enough to fill windows: four characters are about one token. */
export function countTokens(text: string): number {
  return Math.ceil(text.length / 4);
}

/** Splits text into pieces as a model would say it: each word with the blanks before it. */
export function splitTokens(text: string): readonly string[] {
  return text.match(/\s*\S+|\s+$/g) ?? [];
}
