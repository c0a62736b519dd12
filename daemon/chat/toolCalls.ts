import { orAborted } from '../../protocol/base/abort.ts';
import type { Message, ToolCall, ToolResult } from '../../protocol/messages/chat.ts';
import type { ApproveToolParams, ToolDecision } from '../../protocol/messages/tools.ts';
import type { CallOutcome, HostedTool } from './hostedTools.ts';

/** Asks the user whether a call may run. Without a valid decision it rejects or returns a denial. */
export type AskUser = (question: ApproveToolParams, signal: AbortSignal) => Promise<ToolDecision>;

export interface RunOptions {
  readonly tools: readonly HostedTool[];
  readonly streamId: string;
  readonly signal: AbortSignal;
  /** Absent if nobody can be asked. */
  readonly ask?: AskUser;
  /** Whether the turn's rounds of calls are used up. */
  readonly spent?: boolean;
  /** The call is allowed, and runs next. */
  readonly onDidAllow?: (call: ToolCall) => Promise<void>;
  readonly onResult: (result: ToolResult) => Promise<void>;
}

/** A model that makes more calls at once is in a loop. */
const maxCalls = 32;
/** How many tool names a model gets to see when it has called an unknown tool. */
const maxNamed = 20;

/**
 * Runs the calls of one round. Allowed calls run at the same time; questions are asked one after another. Returns the
 * message that answers each call, in order, whether or not the call ran.
 */
export async function runCalls(calls: readonly ToolCall[], options: RunOptions): Promise<readonly Message[]> {
  const { onResult, tools } = options;
  let asked: Promise<unknown> = Promise.resolve();
  /** Only one question is open at a time, and its answer may settle the next ones. */
  const inTurn: InTurn = (work) => {
    const mine = asked.then(work, work);
    asked = mine.catch(() => undefined);
    return mine;
  };
  return Promise.all(
    calls.map(async (call, index) => {
      const tool = tools.find(({ name }) => name === call.name);
      const outcome = await outcomeOf({ call, index, tool }, options, inTurn);
      const { content, isError, images } = outcome;
      await onResult({ id: call.id, name: call.name, server: tool?.server ?? '', content, isError });
      return {
        role: 'tool' as const,
        content,
        toolCallId: call.id,
        toolName: call.name,
        ...(images === undefined ? {} : { images }),
      };
    }),
  );
}

type InTurn = <T>(work: () => Promise<T>) => Promise<T>;

interface WantedCall {
  readonly call: ToolCall;
  /** The call's position in its round. */
  readonly index: number;
  readonly tool: HostedTool | undefined;
}

async function outcomeOf(wanted: WantedCall, options: RunOptions, inTurn: InTurn): Promise<CallOutcome> {
  const { signal } = options;
  try {
    signal.throwIfAborted();
    const problem = problemOf(wanted, options);
    if (problem !== undefined || !wanted.tool) return failed(problem ?? '');
    const { call, tool } = wanted;
    const refusal = await refusalOf({ call, tool }, options, inTurn);
    signal.throwIfAborted();
    if (refusal !== undefined) return failed(refusal);
    await options.onDidAllow?.(call);
    return await tool.call(call.arguments, signal);
  } catch (error) {
    if (signal.aborted) return failed('The call was cancelled.');
    return failed(`The call failed: ${error instanceof Error ? error.message : String(error)}`);
  }
}

function failed(content: string): CallOutcome {
  return { content, isError: true };
}

/** The reason why a call cannot run, found before the user is asked. */
function problemOf({ call, index, tool }: WantedCall, { tools, spent }: RunOptions): string | undefined {
  if (spent) return 'No more tools can be called in this turn. Answer with what is known.';
  if (index >= maxCalls)
    return `Only the first ${maxCalls} calls of an answer are run. Call fewer tools at once.`;
  if (tool) return tool.problemWith(call.arguments);
  const names = tools.slice(0, maxNamed).map(({ name }) => name);
  return `There is no tool ${JSON.stringify(call.name.slice(0, 64))}. ${
    names.length === 0
      ? 'There are no tools now.'
      : `The tools are: ${names.join(', ')}${tools.length > maxNamed ? ' and more' : ''}.`
  }`;
}

/** The reason why the call may not run; undefined if it may. */
async function refusalOf(
  { call, tool }: { readonly call: ToolCall; readonly tool: HostedTool },
  { ask, streamId, signal }: RunOptions,
  inTurn: InTurn,
): Promise<string | undefined> {
  if (await tool.isApproved()) return undefined;
  if (!ask)
    return `The tool ${tool.name} is not allowed here, and nobody can be asked. Go on without it, and say that the user may allow it.`;
  return inTurn(async () => {
    signal.throwIfAborted();
    // The previous answer may have allowed this call as well.
    if (await tool.isApproved()) return undefined;
    signal.throwIfAborted();
    const { server, title, description, annotations } = tool;
    const decision = await orAborted(
      ask(
        {
          ...{ streamId, toolCall: call, server, description },
          ...(title === undefined ? {} : { title }),
          ...(annotations === undefined ? {} : { annotations }),
        },
        signal,
      ),
      signal,
    ).catch(() => 'deny' as const);
    if (decision === 'session' || decision === 'always') await tool.allow(decision);
    return decision === 'deny'
      ? `The user did not allow the call of ${tool.name}. Go on without it.`
      : undefined;
  });
}
