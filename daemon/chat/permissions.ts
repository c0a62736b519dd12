import { linkedSignal, orAborted } from '../../protocol/base/abort.ts';
import { withoutUndefined } from '../../protocol/base/json.ts';
import type { SerialQueue } from '../../protocol/base/keyedWork.ts';
import { cutText } from '../../protocol/base/text.ts';
import type { AgentMode, ToolCall } from '../../protocol/messages/chat.ts';
import type { ApproveToolParams, ApproveToolResult, ToolDecision } from '../../protocol/messages/tools.ts';
import type { AskApproval, CallContext, DaemonTool, PreparedCall, ToolAct } from './daemonTools.ts';

type Rule = 'runs' | 'asked' | 'refused';

/** What is asked has its own approvals besides. */
const rules: Readonly<Record<AgentMode, Readonly<Record<ToolAct, Rule>>>> = {
  read: { read: 'asked', edit: 'refused', check: 'refused' },
  ask: { read: 'asked', edit: 'asked', check: 'asked' },
  edit: { read: 'asked', edit: 'runs', check: 'asked' },
  auto: { read: 'runs', edit: 'runs', check: 'runs' },
};

/** Whether a model is offered such a tool in this mode. */
export function isOffered(mode: AgentMode, act: ToolAct | undefined): boolean {
  return act === undefined || rules[mode][act] !== 'refused';
}

interface OpenQuestion {
  readonly act: ToolAct | undefined;
  /** The user answers it in every mode. */
  readonly isAskedAnyway: boolean;
  withdraw(): void;
}

/** The mode of a turn that is running, and what the user has answered for the whole of it. */
export class TurnMode {
  #mode: AgentMode;
  #allowsEdits = false;
  #isStopped = false;
  readonly #questions = new Set<OpenQuestion>();

  constructor(mode: AgentMode = 'ask') {
    this.#mode = mode;
  }

  get current(): AgentMode {
    return this.#mode;
  }

  /** The user wants nothing more of the turn. */
  get isStopped(): boolean {
    return this.#isStopped;
  }

  rule(act: ToolAct | undefined): Rule {
    const rule = act === undefined ? 'asked' : rules[this.#mode][act];
    return rule === 'asked' && act === 'edit' && this.#allowsEdits ? 'runs' : rule;
  }

  allowEdits(): void {
    this.#allowsEdits = true;
  }

  stop(): void {
    this.#isStopped = true;
  }

  /** Questions that the mode answers are withdrawn. */
  change(mode: AgentMode): void {
    this.#mode = mode;
    for (const { act, isAskedAnyway, withdraw } of this.#questions) {
      const rule = this.rule(act);
      if (rule === 'refused' || (rule === 'runs' && !isAskedAnyway)) withdraw();
    }
  }

  /** The answer; undefined if the mode was changed meanwhile and answers the question. */
  async ask<T>(
    about: Omit<OpenQuestion, 'withdraw'>,
    signal: AbortSignal,
    question: (signal: AbortSignal) => Promise<T>,
  ): Promise<T | undefined> {
    const linked = linkedSignal(signal);
    let isWithdrawn = false;
    const open: OpenQuestion = {
      ...about,
      withdraw() {
        isWithdrawn = true;
        linked.abort();
      },
    };
    this.#questions.add(open);
    try {
      const answer = await question(linked.signal);
      return isWithdrawn ? undefined : answer;
    } finally {
      this.#questions.delete(open);
      linked.unlink();
    }
  }
}

export type AgentModes = ReturnType<typeof createAgentModes>;

/** The modes of the turns that are running, by the `streamId` of their chats. */
export function createAgentModes() {
  const running = new Map<string, TurnMode>();
  return {
    async during<T>(streamId: string, mode: TurnMode, turn: () => Promise<T>): Promise<T> {
      running.set(streamId, mode);
      try {
        return await turn();
      } finally {
        running.delete(streamId);
      }
    },
    /** The chat may have ended meanwhile. */
    change: (streamId: string, mode: AgentMode): void => running.get(streamId)?.change(mode),
  };
}

/** What stands in place of the result of a call that did not end. */
export const callEndings = {
  cancelled: 'The call was cancelled.',
  interrupted: 'The call was interrupted.',
  notRun: 'The call was not run.',
} as const;
const denial = 'The user did not allow';
const isDenial = /^The user did not allow (?:the call of |it: ")/;
/** Of the reason that the user gives for a denial, in characters. */
const maxReason = 1_000;

/** Whether a result stands in place of that of the tool, because the call did not end or was not allowed. */
export function standsForResult(content: string): boolean {
  return Object.values<string>(callEndings).includes(content) || isDenial.test(content);
}

/** Whether a call may run. */
export interface Permission {
  /** A sentence for the model; absent if the call may run. */
  readonly refusal?: string;
  /** It was refused because nobody could be asked. */
  readonly isUnasked?: boolean;
  /** The user has seen it. */
  readonly wasAsked?: boolean;
  /** The call as the user was shown it. Whoever gets it ends it. */
  readonly prepared?: PreparedCall;
}

export interface PermissionOptions {
  readonly streamId: string;
  readonly signal: AbortSignal;
  /** What is asked about. */
  readonly mode: TurnMode;
  /** Absent if nobody can be asked. */
  readonly askApproval?: AskApproval;
  /** What the results of this round may be; absent if nobody knows the window of the model. */
  readonly bounds?: CallContext;
}

interface ApprovalRequest {
  readonly call: ToolCall;
  readonly tool: DaemonTool;
}

/** Asks the user if the mode and earlier answers leave it open: one question at a time, in the order of `approvals`. */
export async function permissionFor(
  request: ApprovalRequest,
  options: PermissionOptions,
  approvals: SerialQueue,
): Promise<Permission> {
  const { tool, call } = request;
  const { askApproval, mode, signal } = options;
  const rule = async () => {
    if (mode.isStopped) return 'stopped';
    const found = mode.rule(tool.act);
    return found === 'asked' && (await tool.isApproved(call.arguments)) ? 'runs' : found;
  };
  // One after another, so that the questions come in the order of the calls.
  const first = await approvals.run('check', rule);
  if (first === 'runs') {
    const permission = await prepare(request, options);
    if (permission.prepared?.isAskedAnyway !== true) return permission;
    permission.prepared.end();
    if (!askApproval) return { refusal: neverUnasked };
  }
  if (first === 'asked' && !askApproval) {
    const refusal = `The tool ${tool.name} is not allowed here, and nobody can be asked. Go on without it, and say that the user may allow it.`;
    return { refusal, isUnasked: true };
  }
  return approvals.run('approval', async () => {
    for (;;) {
      signal.throwIfAborted();
      // The previous answer, or another mode, may have decided about this call as well.
      const now = await rule();
      signal.throwIfAborted();
      if (now === 'stopped') return { refusal: callEndings.notRun };
      if (now === 'refused' || !askApproval) return { refusal: refusedByMode };
      const permission = await prepare(request, options);
      if (permission.refusal !== undefined) return permission;
      if (now === 'runs' && permission.prepared?.isAskedAnyway !== true) return permission;
      const answer = await askUser(request, { ...options, askApproval }, permission.prepared);
      if (answer?.wasAsked) return { ...permission, ...answer };
      permission.prepared?.end();
      if (answer) return answer;
    }
  });
}

const refusedByMode =
  'The user has chosen a mode in which nothing is changed and nothing is run. Go on without it.';
const neverUnasked =
  'The user is asked about this change in every mode, and nobody can be asked here. Tell the user what to change.';

/** What cannot run at all is refused before anybody is asked. */
async function prepare(
  { call, tool }: ApprovalRequest,
  { signal, bounds }: PermissionOptions,
): Promise<Permission> {
  const prepared = await tool.prepare?.(call.arguments, signal, bounds);
  if (!prepared) return {};
  return prepared.problem === undefined ? { prepared } : { refusal: prepared.problem };
}

/** Undefined if the mode was changed meanwhile, which answers the question. */
async function askUser(
  request: ApprovalRequest,
  options: PermissionOptions & { readonly askApproval: AskApproval },
  prepared: PreparedCall | undefined,
): Promise<Omit<Permission, 'prepared'> | undefined> {
  const { call, tool } = request;
  const { askApproval, mode } = options;
  const question = questionOf(request, options, prepared);
  const about = { act: tool.act, isAskedAnyway: prepared?.isAskedAnyway === true };
  const ask = (signal: AbortSignal) =>
    orAborted(askApproval(question, signal, tool), signal).catch(
      (): ApproveToolResult => ({ decision: 'deny' }),
    );
  const given = await mode.ask(about, options.signal, ask);
  if (!given) return undefined;
  const { decision, reason } = asOffered(given, question.decisions);
  if (decision === 'answer') mode.allowEdits();
  if (decision === 'stop') mode.stop();
  if (decision === 'session' || decision === 'always') await tool.allow(decision, call.arguments);
  const isDenied = decision === 'deny' || decision === 'stop';
  return isDenied ? { refusal: denialOf(tool.name, reason) } : { wasAsked: true };
}

function questionOf(
  { call, tool }: ApprovalRequest,
  { streamId }: PermissionOptions,
  prepared: PreparedCall | undefined,
): ApproveToolParams {
  const { server, title, description, annotations } = tool;
  // What is asked in every mode, no answer allows beforehand.
  const isEach = (decision: ToolDecision) => prepared?.isAskedAnyway !== true || decision !== 'answer';
  const decisions = tool.decisions?.filter(isEach);
  const toolCall = { ...call, arguments: prepared?.given ?? call.arguments };
  return withoutUndefined<ApproveToolParams>({
    ...{ streamId, toolCall, server, title, description, annotations, decisions },
    diff: prepared?.diff,
    command: prepared?.command,
  });
}

const usualDecisions: readonly ToolDecision[] = ['once', 'session', 'always', 'deny'];

/** Any other answer is a denial. */
function asOffered(
  given: ApproveToolResult,
  offered: readonly ToolDecision[] = usualDecisions,
): ApproveToolResult {
  return offered.includes(given.decision) ? given : { ...given, decision: 'deny' };
}

function denialOf(tool: string, reason = ''): string {
  const given = cutText(reason.trim(), maxReason);
  return given === ''
    ? `${denial} the call of ${tool}. Go on without it.`
    : `${denial} it: ${JSON.stringify(given)}.`;
}
