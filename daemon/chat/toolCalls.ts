import { SerialQueue } from '../../protocol/base/keyedWork.ts';
import { messageOf, withoutMiddle } from '../../protocol/base/text.ts';
import type { Message, ToolCall, ToolResult } from '../../protocol/messages/chat.ts';
import type { ToolProgress } from '../../protocol/messages/tools.ts';
import type { AskElicitation, CallListener, CallOutcome, DaemonTool, PreparedCall } from './daemonTools.ts';
import { callEndings, type Permission, type PermissionOptions, permissionFor } from './permissions.ts';

export interface ToolRunOptions extends PermissionOptions {
  readonly tools: readonly DaemonTool[];
  /** Whether the turn's rounds of calls are used up. */
  readonly spent?: boolean;
  /** The ids of calls whose arguments cannot be read. */
  readonly unread?: ReadonlySet<string>;
  /** The call that the limit of tokens has cut, and how many the answer has. */
  readonly cut?: { readonly id: string; readonly tokens: number };
  /** The call is allowed, and runs next. */
  readonly onDidAllow?: (call: ToolCall) => Promise<void>;
  /** Settles when the report was written. Those that come meanwhile are left out, except the last. */
  readonly onProgress?: (progress: ToolProgress) => Promise<void>;
  /** Absent if nobody can be asked. */
  readonly askElicitation?: AskElicitation;
  readonly onResult: (result: ToolResult) => Promise<void>;
  /** What the model gets in place of the outcome of a call; the tool is absent if nobody offers it. */
  readonly onOutcome?: (call: ToolCall, outcome: CallOutcome, tool: DaemonTool | undefined) => CallOutcome;
  /** The right names of tools that the model was told already. */
  readonly told?: Set<string>;
  /** A sentence about a tool that nobody offers. */
  readonly adviceOn?: (name: string) => string | undefined;
}

/** A model that makes more calls at once is caught in a loop. */
const maxCalls = 32;
/** The most tool names that are listed for a model that has called an unknown tool. */
const maxNamed = 20;

/**
 * Runs the calls of one round. Allowed calls run at the same time; questions are asked one after another. Returns the
 * message that answers each call, in order, whether or not the call ran.
 */
export async function runCalls(
  calls: readonly ToolCall[],
  options: ToolRunOptions,
): Promise<readonly Message[]> {
  const { onResult, tools } = options;
  // Only one question is open at a time, because its answer may settle the next ones.
  const approvals = new SerialQueue();
  const answer = async (meantCall: MeantCall, index: number) => {
    const { call, asMeant, tool } = meantCall;
    const found = bounded(await outcomeOf({ call: asMeant, index, tool }, options, approvals), options);
    const outcome = options.onOutcome?.(asMeant, found, tool) ?? found;
    const {
      images,
      compared: _,
      edit: __,
      check: ___,
      isForgiven: ____,
      ...result
    } = withToolName(outcome, meantCall, options.told);
    const shown = images === undefined ? {} : { images };
    await onResult({ id: call.id, name: call.name, server: tool?.server ?? '', ...result, ...shown });
    const { content } = result;
    return { role: 'tool' as const, content, toolCallId: call.id, toolName: call.name, ...shown };
  };
  const meant = calls.map((call) => meaningOf(call, tools));
  const first = meant.map((call, index) => (call.tool?.runsLast ? undefined : answer(call, index)));
  let before: Promise<unknown> | undefined;
  return Promise.all(
    meant.map((call, index) => {
      if (first[index]) return first[index];
      const next = (before ?? Promise.all(first)).then(() => answer(call, index));
      before = next;
      return next;
    }),
  );
}

interface MeantCall {
  readonly call: ToolCall;
  /** Under the tool's own name. */
  readonly asMeant: ToolCall;
  readonly tool: DaemonTool | undefined;
}

/** The tool of that name, or else the one that models call so, or that they mean by such a call. */
function meaningOf(call: ToolCall, tools: readonly DaemonTool[]): MeantCall {
  const tool =
    tools.find(({ name }) => name === call.name) ??
    tools.find(({ otherNames }) => otherNames?.includes(call.name));
  if (tool) {
    const given = tool.asMeant?.(call.arguments) ?? call.arguments;
    return { call, tool, asMeant: { ...call, name: tool.name, arguments: given } };
  }
  for (const other of tools) {
    const given = other.meantBy?.(call);
    if (given) return { call, tool: other, asMeant: { ...call, name: other.name, arguments: given } };
  }
  return { call, asMeant: call, tool: undefined };
}

/** A model that calls a tool by another name is told the right one, once in a turn. */
function withToolName(
  outcome: CallOutcome,
  { call, tool }: MeantCall,
  told: Set<string> | undefined,
): CallOutcome {
  if (tool === undefined || tool.name === call.name || told?.has(tool.name)) return outcome;
  told?.add(tool.name);
  return { ...outcome, content: `[The tool is called ${tool.name}.]\n${outcome.content}` };
}

/** No result is longer than there is room for. */
function bounded(outcome: CallOutcome, { bounds }: ToolRunOptions): CallOutcome {
  const most = bounds?.characters ?? Number.POSITIVE_INFINITY;
  return outcome.content.length <= most
    ? outcome
    : { ...outcome, content: withoutMiddle(outcome.content, most) };
}

interface RoundCall {
  readonly call: ToolCall;
  /** The call's position in its round. */
  readonly index: number;
  readonly tool: DaemonTool | undefined;
}

async function outcomeOf(
  wanted: RoundCall,
  options: ToolRunOptions,
  approvals: SerialQueue,
): Promise<CallOutcome> {
  const { signal } = options;
  let prepared: PreparedCall | undefined;
  try {
    signal.throwIfAborted();
    const problem = problemOf(wanted, options);
    if (problem !== undefined || !wanted.tool) return failed(problem ?? '');
    const { call, tool } = wanted;
    const permission = await permissionFor({ call, tool }, options, approvals);
    prepared = permission.prepared;
    signal.throwIfAborted();
    const { refusal } = permission;
    if (refusal !== undefined)
      return { ...failed(refusal), ...(permission.isUnasked ? { unapprovedTool: tool.ownName } : {}) };
    await options.onDidAllow?.(call);
    if (!prepared) return await callTool(tool, call, options);
    const outcome = await prepared.call(signal, listenerOf(call, options));
    return outcome.isError ? outcome : withEdit(outcome, prepared, permission);
  } catch (error) {
    if (signal.aborted) return failed(callEndings.cancelled);
    return failed(`The call failed: ${messageOf(error)}`);
  } finally {
    prepared?.end();
  }
}

function withEdit(
  outcome: CallOutcome,
  { diff, isForgiven }: PreparedCall,
  { wasAsked }: Permission,
): CallOutcome {
  if (!diff) return outcome;
  const lines = diff.unified.split('\n');
  const count = (mark: string) => lines.filter((line) => line.startsWith(mark)).length;
  const edit = { path: diff.name, added: count('+'), removed: count('-') };
  return { ...outcome, edit, ...(wasAsked ? {} : { diff }), ...(isForgiven ? { isForgiven } : {}) };
}

function callTool(tool: DaemonTool, call: ToolCall, options: ToolRunOptions): Promise<CallOutcome> {
  return tool.call(call.arguments, options.signal, listenerOf(call, options));
}

function listenerOf(
  call: ToolCall,
  { onProgress, askElicitation, streamId, bounds }: ToolRunOptions,
): CallListener {
  const report = onProgress && newestOnly(onProgress);
  return {
    bounds,
    onProgress: (progress) => report?.({ streamId, id: call.id, ...progress }),
    elicit: askElicitation && ((question, open) => askElicitation({ streamId, ...question }, open, call.id)),
  };
}

/** Passes values on, one at a time. Of those that come meanwhile, only the newest is kept. */
function newestOnly<T extends object>(send: (value: T) => Promise<void>): (value: T) => void {
  let newest: T | undefined;
  let isSending = false;
  return async (value) => {
    newest = value;
    if (isSending) return;
    isSending = true;
    try {
      while (newest !== undefined) {
        const next: T = newest;
        newest = undefined;
        await send(next);
      }
    } catch {
      // The client is gone, which ends the call too.
    } finally {
      isSending = false;
    }
  };
}

function failed(content: string): CallOutcome {
  return { content, isError: true };
}

/** The reason why a call cannot run, found before the user is asked. */
function problemOf(
  { call, index, tool }: RoundCall,
  { tools, spent, unread, cut, adviceOn }: ToolRunOptions,
): string | undefined {
  if (spent) return 'No more tools can be called in this turn. Answer with what is known.';
  if (index >= maxCalls)
    return `Only the first ${maxCalls} calls of an answer are run. Call fewer tools at once.`;
  if (cut?.id === call.id)
    return `The call was cut after ${cut.tokens.toLocaleString('en-US')} tokens. Make a smaller edit.`;
  if (unread?.has(call.id))
    return 'The arguments of this call are no JSON, so it was not run. Call it again, with one JSON object.';
  if (tool) return tool.problemWith(call.arguments);
  const advice = adviceOn?.(call.name);
  if (advice !== undefined) return advice;
  const names = tools.slice(0, maxNamed).map(({ name }) => name);
  return `There is no tool ${JSON.stringify(call.name.slice(0, 64))}. ${
    names.length === 0
      ? 'There are no tools now.'
      : `The tools are: ${names.join(', ')}${tools.length > maxNamed ? ' and more' : ''}.`
  }`;
}
