import type { Advised } from '../../protocol/messages/advice.ts';
import type { Tool } from '../../protocol/messages/chat.ts';
import type { ToolAnnotations } from '../../protocol/messages/tools.ts';

/** Tools that the daemon itself can call for a model. */
export interface HostedTools {
  /**
   * What these servers offer now, in addition to the client's own tools. A server that does not start is left out, with
   * a sentence in `problems`.
   */
  offer(
    servers: 'all' | readonly string[],
    own: readonly Tool[],
    signal: AbortSignal,
  ): Promise<OfferedHostedTools>;
}

export interface OfferedHostedTools {
  /** In a stable order. */
  readonly tools: readonly HostedTool[];
  readonly problems: readonly Advised[];
}

/** A tool under the name that the model sees. */
export interface HostedTool extends Tool {
  readonly server: string;
  readonly title?: string;
  readonly annotations?: ToolAnnotations;
  /** A sentence for the model that says what is wrong with the arguments; undefined if they are right. */
  problemWith(given: ToolArguments): string | undefined;
  isApproved(): Promise<boolean>;
  /** From now on the tool runs without a question. */
  allow(decision: 'session' | 'always'): Promise<void>;
  /** The outcome, even if the call failed. Rejects with the reason of an aborted signal. */
  call(given: ToolArguments, signal: AbortSignal): Promise<CallOutcome>;
}

export type ToolArguments = Readonly<Record<string, unknown>>;

export interface CallOutcome {
  readonly content: string;
  readonly isError: boolean;
  /** Base64. */
  readonly images?: readonly string[];
}
