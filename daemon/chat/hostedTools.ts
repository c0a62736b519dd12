import type { Tool } from '../../protocol/chat.ts';
import type { ToolAnnotations } from '../../protocol/tools.ts';

/** Tools that the daemon itself can call for a model. */
export interface HostedTools {
  /**
   * What these servers offer now, beside the tools of the client. A server that does not start is left out, and a
   * sentence says so.
   */
  offer(
    servers: 'all' | readonly string[],
    own: readonly Tool[],
    signal: AbortSignal,
  ): Promise<OfferedHostedTools>;
}

export interface OfferedHostedTools {
  /** In an order that stays the same. */
  readonly tools: readonly HostedTool[];
  readonly problems: readonly string[];
}

/** A tool under the name that the model sees. */
export interface HostedTool extends Tool {
  readonly server: string;
  readonly title?: string;
  readonly annotations?: ToolAnnotations;
  /** What is wrong with the arguments, as a sentence for the model. */
  problemWith(given: ToolArguments): string | undefined;
  isApproved(): Promise<boolean>;
  /** From now on it runs without a question. */
  allow(decision: 'session' | 'always'): Promise<void>;
  /** What came of it, also where it failed. Rejects with the reason of an aborted signal. */
  call(given: ToolArguments, signal: AbortSignal): Promise<CallOutcome>;
}

export type ToolArguments = Readonly<Record<string, unknown>>;

export interface CallOutcome {
  readonly content: string;
  readonly isError: boolean;
  /** Base64. */
  readonly images?: readonly string[];
}
