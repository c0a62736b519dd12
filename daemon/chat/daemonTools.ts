import type { AdviceMessage } from '../../protocol/messages/advice.ts';
import type {
  AgentCheck,
  AgentEdit,
  AgentMode,
  FileDiff,
  Tool,
  ToolCall,
} from '../../protocol/messages/chat.ts';
import type { ElicitParams, ElicitResult } from '../../protocol/messages/elicit.ts';
import type {
  ApproveToolParams,
  ApproveToolResult,
  CallProgress,
  ToolAnnotations,
  ToolDecision,
} from '../../protocol/messages/tools.ts';
import type { ProjectRules } from './projectRules.ts';

/** The tools that the daemon itself calls for a model, of MCP servers and built in: `hostedTools` in the protocol. */
export interface DaemonTools {
  /**
   * What these servers offer now, in addition to the tools of the client. A server that does not start is left out, and
   * `problems` says why.
   */
  offer(
    servers: 'all' | readonly string[],
    clientTools: readonly Tool[],
    turn: { readonly mode: AgentMode; readonly signal: AbortSignal },
  ): Promise<DaemonToolOffer>;
  /** Whether any of these servers is entered. None is started. */
  has(servers: 'all' | readonly string[]): boolean;
}

export interface DaemonToolOffer {
  /** In a stable order. */
  readonly tools: readonly DaemonTool[];
  readonly problems: readonly AdviceMessage[];
  /** What the model should know of its work with the built-in tools: a part of the system message. */
  readonly instructions?: string;
  /** What stands in files for models. It is for a model with the built-in tools alone. */
  readonly rules?: ProjectRules;
  /** A sentence for a model that has called a tool which nobody offers. */
  readonly adviceOn?: (name: string) => string | undefined;
}

/** What a call may give back, in characters: the window of the model decides. */
export interface CallBounds {
  /** Of the result, with its notes. */
  readonly characters: number;
  /** Of a file whose whole text is replaced. */
  readonly replaceable: number;
}

/** A call of a turn. */
export interface CallContext extends CallBounds {
  /** Whose edits can be taken back. Absent if the conversation is not kept. */
  readonly turn?: { readonly session: string; readonly prompt: number; readonly id: string } | undefined;
}

/** What a built-in tool does. Tools of servers have none of it: their approvals hold in every mode. */
export type ToolAct = 'read' | 'edit' | 'check';

/** A tool under the name that the model sees. */
export interface DaemonTool extends Tool {
  readonly server: string;
  /** The server's own name for it. */
  readonly ownName: string;
  readonly title?: string;
  readonly annotations?: ToolAnnotations;
  /** Only of a built-in tool: the mode decides whether its calls are asked about. */
  readonly act?: ToolAct;
  /** Other names under which models call it. They count if nobody offers a tool of that name. */
  readonly otherNames?: readonly string[];
  /** The arguments, if the call of a tool that nobody offers means this one. */
  readonly meantBy?: (call: ToolCall) => ToolArguments | undefined;
  /** Its calls run after all others of their round, one at a time, because they depend on what the others change. */
  readonly runsLast?: boolean;
  /** The arguments as they are meant, before they are checked and shown. Absent: as they are. */
  readonly asMeant?: (given: ToolArguments) => ToolArguments;
  /** A sentence for the model that says what is wrong with the arguments; undefined if they are right. */
  problemWith(given: ToolArguments): string | undefined;
  /** What the user can answer. Absent: everything that is not for edits alone. */
  readonly decisions?: readonly ToolDecision[];
  isApproved(given: ToolArguments): Promise<boolean>;
  /** From now on the tool, or such a call of it, runs without a question. */
  allow(decision: 'session' | 'always', given: ToolArguments): Promise<void>;
  /**
   * Looks what a call would do, before the user is asked. A tool that has nothing to look at has no such function.
   * Rejects with the reason of an aborted signal.
   */
  prepare?(
    given: ToolArguments,
    signal: AbortSignal,
    context?: CallContext,
  ): Promise<PreparedCall | undefined>;
  /** Resolves even if the call failed. Rejects with the reason of an aborted signal. */
  call(given: ToolArguments, signal: AbortSignal, listener?: CallListener): Promise<CallOutcome>;
}

/** What a call reports and asks while it runs. */
export interface CallListener {
  /** What the result may be. */
  readonly bounds?: CallBounds | undefined;
  readonly onProgress?: ((progress: CallProgress) => void) | undefined;
  /** Absent if the user cannot be asked. */
  readonly elicit?: ElicitForCall | undefined;
}

/** Asks the user what a tool server wants to know. An aborted signal withdraws the question. */
export type ElicitForCall = (
  question: Omit<ElicitParams, 'streamId'>,
  signal: AbortSignal,
) => Promise<ElicitResult>;

/** A call that does what the user was shown, or nothing. */
export interface PreparedCall {
  /** A sentence for the model that says why the call cannot run; then nobody is asked. */
  readonly problem?: string;
  /** The arguments as the call will run; absent: as they were given. */
  readonly given?: ToolArguments;
  /** What it would change. */
  readonly diff?: FileDiff;
  /** The words of what it would run. */
  readonly command?: readonly string[];
  /** The user is asked in every mode, and even if the tool is allowed. */
  readonly isAskedAnyway?: boolean;
  /** The model copied the text that it changes badly. */
  readonly isForgiven?: boolean;
  call(signal: AbortSignal, listener?: CallListener): Promise<CallOutcome>;
  /** It was called, or will not be: other calls no longer wait for it. */
  end(): void;
}

type ToolArguments = Readonly<Record<string, unknown>>;

export interface CallOutcome {
  readonly content: string;
  readonly isError: boolean;
  /** Base64. */
  readonly images?: readonly string[];
  /** All that a program has written, if the content has only a part of it. */
  readonly output?: string;
  /** What a check was and how it ended. */
  readonly check?: AgentCheck;
  /** What the call has changed. */
  readonly edit?: AgentEdit;
  /** The same in full, if nobody was asked about it. */
  readonly diff?: FileDiff;
  /** As in {@link PreparedCall}. */
  readonly isForgiven?: boolean;
  /** In place of the content, when it is compared with the results of earlier calls. */
  readonly compared?: string;
  /** As in {@link ToolResult}. */
  readonly unapprovedTool?: string;
}

/** As {@link ElicitForCall}, for the chat that the question names, and for this call. */
export type AskElicitation = (
  question: ElicitParams,
  signal: AbortSignal,
  callId: string,
) => Promise<ElicitResult>;

/** By a form, or with an address to open. */
export type ElicitMode = 'form' | 'url';

/** Asks the user whether a call may run. Without a valid decision it rejects or returns a denial. */
export type AskApproval = (
  question: ApproveToolParams,
  signal: AbortSignal,
  tool: DaemonTool,
) => Promise<ApproveToolResult>;
