import { withoutUndefined } from '../../protocol/base/json.ts';
import {
  type AgentCheck,
  type AgentEdit,
  type AgentResult,
  type ChatDelta,
  type ChatParams,
  type ChatResult,
  defaultRounds,
  type Message,
  maxToolRounds,
  type Notice,
  type ToolCall,
  type Usage,
} from '../../protocol/messages/chat.ts';
import { RunnerError } from '../base/errors.ts';
import type { Runner } from '../runner/runner.ts';
import { CallRepeats } from './callRepeats.ts';
import type { ChatRound, ChatTurn, RoundResult } from './chat.ts';
import type {
  AskApproval,
  AskElicitation,
  CallBounds,
  CallContext,
  CallOutcome,
  DaemonToolOffer,
  DaemonTools,
} from './daemonTools.ts';
import { type SendDelta, toolsDisabled } from './deltas.ts';
import { type AgentModes, callEndings, TurnMode } from './permissions.ts';
import { PromptRoom } from './promptRoom.ts';
import { runCalls, type ToolRunOptions } from './toolCalls.ts';
import { type FindWindow, unknownWindow } from './turnWindow.ts';

/** The tools of a client, and what it does while they are called. */
export interface TurnTools {
  readonly tools: DaemonTools;
  /** The way to ask the user before a call; undefined if nobody can be asked. */
  readonly askApproval: () => AskApproval | undefined;
  /** The way to ask the user what a tool server wants to know; undefined if nobody can be asked. */
  readonly askElicitation: () => AskElicitation | undefined;
  /** Where the user can change the mode of a turn that is running. */
  readonly modes: AgentModes;
  /** The call is allowed, and runs next. */
  readonly onDidAllow?: (call: ToolCall) => Promise<void>;
  readonly onProgress?: ToolRunOptions['onProgress'];
}

interface ToolLoopDependencies extends TurnTools {
  readonly chat: ChatRound;
  readonly findWindow: FindWindow;
  /** False if the model has no tools: then no server is started for it. */
  readonly takesTools: (runner: Runner, model: string, signal: AbortSignal) => Promise<boolean>;
  /** Creates an id for a call. */
  readonly createId: () => string;
}

/**
 * A turn whose model may call the daemon's tools. The model is asked, its calls are run, and it is asked again with
 * their results, until it answers without calls. Without `hostedTools` the turn is one round.
 */
export function createToolLoop(dependencies: ToolLoopDependencies): ChatTurn {
  return async (runner, params, send, signal) => {
    if (params.hostedTools === undefined) {
      const { unread: _, isCut: __, ...result } = await dependencies.chat(runner, params, send, signal);
      return result;
    }
    const loop = new Loop(dependencies, { runner, params, send, signal });
    try {
      return await dependencies.modes.during(params.streamId, loop.mode, () => loop.run());
    } catch (error) {
      throw loop.failed(error);
    }
  };
}

interface LoopOptions {
  readonly runner: Runner;
  readonly params: ChatParams;
  readonly send: SendDelta;
  readonly signal: AbortSignal;
}

/** The content of one delta, before the delta is numbered. */
type Content<T = ChatDelta> = T extends ChatDelta ? Omit<T, 'streamId' | 'seq'> : never;

const noOffer: DaemonToolOffer = { tools: [], problems: [] };
interface RoundOfCalls {
  readonly offer: DaemonToolOffer;
  readonly bounds?: CallBounds;
  /** Absent: what is repeated does not matter any more. */
  readonly repeats?: CallRepeats;
  readonly cut?: ToolRunOptions['cut'];
  /** The rounds are used up. */
  readonly spent?: true;
}

/** The state of one turn, over all of its rounds. */
class Loop {
  readonly #dependencies: ToolLoopDependencies;
  readonly #options: LoopOptions;
  /** Every message that the turn has added so far, ready to be sent as history. */
  readonly #added: Message[] = [];
  readonly #notices: Notice[] = [];
  /** The first file of which a badly copied text was found all the same. */
  #forgiven: string | undefined;
  readonly #ids: Set<string>;
  /** For what the turn changes. */
  #id: string | undefined;
  /** Of calls whose arguments cannot be read. */
  readonly #unread = new Set<string>();
  /** The names of tools that the model knows by now. */
  readonly #told = new Set<string>();
  readonly mode: TurnMode;
  readonly #edits: AgentEdit[] = [];
  readonly #checks: AgentCheck[] = [];
  /** Undefined if the model has none of the built-in tools. */
  #agent: PromptRoom | undefined;
  #rounds = 0;
  #seq = 0;
  #completionTokens = 0;
  #usage: Usage = { promptTokens: 0, completionTokens: 0 };

  constructor(dependencies: ToolLoopDependencies, options: LoopOptions) {
    this.#dependencies = dependencies;
    this.#options = options;
    const { messages, agent } = options.params;
    this.mode = new TurnMode(agent?.mode);
    this.#ids = new Set(messages.flatMap(({ toolCalls = [] }) => toolCalls.map(({ id }) => id)));
  }

  async run(): Promise<ChatResult> {
    const { params, signal } = this.#options;
    const rounds = Math.min(params.maxRounds ?? defaultRounds, maxToolRounds);
    const offer = await this.#offer();
    const room = offer && (await this.#room(offer));
    if (!offer || !room) return this.#result('cancelled', { role: 'assistant', content: '' });
    if (offer.instructions !== undefined) this.#agent = room;
    const daemonTools = { ...offer, tools: room.tools };
    const described = [
      ...(params.tools ?? []),
      ...room.tools.map(({ name, description, inputSchema }) => ({ name, description, inputSchema })),
    ];
    const repeats = new CallRepeats((id) => room.isRemoved(id));
    let wasCut = false;
    for (let round = 0; round < rounds; round += 1) {
      const { finishReason, message, isCut = false, usage } = await this.#runRound(described, room);
      const calls = message.toolCalls ?? [];
      // The client answers the calls of its own tools.
      const clientTools = new Set(params.tools?.map(({ name }) => name));
      const daemonCalls = calls.filter(({ name }) => !clientTools.has(name));
      const toolsOf = daemonCalls.map(({ name }) => room.tools.find((tool) => tool.name === name));
      const bounds = room.boundsFor(toolsOf, this.#added, described);
      const last = isCut ? daemonCalls.at(-1) : undefined;
      const cut = last && { id: last.id, tokens: usage.completionTokens };
      await this.#runCalls(daemonCalls, withoutUndefined({ offer: daemonTools, bounds, cut, repeats }));
      if (signal.aborted || this.mode.isStopped || finishReason === 'cancelled')
        return this.#result('cancelled', message);
      if (daemonCalls.length < calls.length || daemonCalls.length === 0)
        return this.#result(finishReason, message);
      if (isCut && wasCut) return this.#result('length', message);
      wasCut = isCut;
      if (repeats.endRound()) return this.#answerWithoutTools(room, 'toolLoop');
    }
    return this.#answerWithoutTools(room, 'toolLimit');
  }

  async #answerWithoutTools(room: PromptRoom, reason: 'toolLimit' | 'toolLoop'): Promise<ChatResult> {
    const { finishReason, message } = await this.#runRound([], room);
    await this.#runCalls(message.toolCalls ?? [], { offer: noOffer, spent: true });
    return this.#result(finishReason === 'cancelled' ? 'cancelled' : reason, message);
  }

  /** Adds the answer so far to the error: the last message as always, and all messages that the turn has added. */
  failed(error: unknown): unknown {
    if (!(error instanceof RunnerError)) return error;
    const { partial } = error.details;
    const last = partial === undefined ? [] : withAnswers(partial as Message);
    const messages = [...this.#added, ...last];
    return messages.length === 0 ? error : error.with({ messages });
  }

  /** Undefined if the turn was cancelled before the servers were ready. */
  async #offer(): Promise<DaemonToolOffer | undefined> {
    const { runner, params, signal } = this.#options;
    const { hostedTools = [], toolChoice, tools = [], model } = params;
    const { takesTools } = this.#dependencies;
    if (toolChoice === 'none' || !this.#dependencies.tools.has(hostedTools)) return noOffer;
    try {
      if (!(await takesTools(runner, model, signal))) {
        await this.#say(toolsDisabled(model));
        return noOffer;
      }
      const turn = { mode: this.mode.current, signal };
      const offer = await this.#dependencies.tools.offer(hostedTools, tools, turn);
      for (const problem of offer.problems) await this.#say({ code: 'tools-unavailable', ...problem });
      return offer;
    } catch (error) {
      if (signal.aborted) return undefined;
      throw error;
    }
  }

  /** Undefined if the turn was cancelled meanwhile. */
  async #room(offer: DaemonToolOffer): Promise<PromptRoom | undefined> {
    const { runner, params, signal } = this.#options;
    const { findWindow } = this.#dependencies;
    const asks = offer.instructions !== undefined;
    try {
      const hasTools = offer.tools.length > 0;
      const window = hasTools ? await findWindow(runner, params, { asks, signal }) : unknownWindow();
      const room = new PromptRoom(window, offer, params);
      for (const notice of room.notices) await this.#say(notice);
      return room;
    } catch (error) {
      if (signal.aborted) return undefined;
      throw error;
    }
  }

  /** Asks the model once, with the history and all that the turn has added, as far as there is room. */
  async #runRound(tools: NonNullable<ChatParams['tools']>, room: PromptRoom): Promise<RoundResult> {
    const { runner, params, signal } = this.#options;
    const { hostedTools: _, maxRounds: __, tools: ___, options: ____, agent: _____, ...given } = params;
    const { toolChoice, ...rest } = given;
    this.#rounds += 1;
    const { messages, notice } = room.messages(this.#added, tools);
    if (notice && !this.#notices.some(({ code }) => code === notice.code)) await this.#say(notice);
    // A call in each round would never come to an answer.
    const choice = toolChoice === 'required' && this.#added.length > 0 ? undefined : toolChoice;
    const calls: ToolCall[] = [];
    const result = await this.#dependencies.chat(
      runner,
      {
        ...rest,
        messages,
        ...(room.options === undefined ? {} : { options: room.options }),
        ...(choice === undefined ? {} : { toolChoice: choice }),
        ...(tools.length === 0 ? {} : { tools }),
      },
      (delta) => this.#pass(delta, calls),
      signal,
    );
    await this.#passUnread(result.unread ?? [], calls);
    this.#completionTokens += result.usage.completionTokens;
    this.#usage = { ...result.usage, completionTokens: this.#completionTokens };
    const message = calls.length === 0 ? result.message : { ...result.message, toolCalls: calls };
    if (!isEmpty(message)) this.#added.push(message);
    return { ...result, message };
  }

  /**
   * Passes a delta of a round on. Each round numbers its deltas from 0, repeats notices, and may reuse the ids of other
   * rounds.
   */
  async #pass(delta: ChatDelta, calls: ToolCall[]): Promise<void> {
    if (delta.kind === 'notice') {
      const isKnown = this.#notices.some(({ code }) => code === delta.notice.code);
      return isKnown ? undefined : this.#say(delta.notice);
    }
    if (delta.kind !== 'toolCall') return this.#send(delta);
    const toolCall = this.#withNewId(delta.toolCall);
    calls.push(toolCall);
    return this.#send({ ...delta, toolCall });
  }

  /** A call of the daemon's own tools that cannot be read is answered too, so that the model can mend it. */
  async #passUnread(unread: readonly ToolCall[], calls: ToolCall[]): Promise<void> {
    const { tools = [] } = this.#options.params;
    for (const call of unread) {
      if (tools.some(({ name }) => name === call.name)) continue;
      const toolCall = this.#withNewId(call);
      this.#unread.add(toolCall.id);
      calls.push(toolCall);
      await this.#send({ kind: 'toolCall', toolCall });
    }
  }

  #withNewId(call: ToolCall): ToolCall {
    let { id } = call;
    while (id === '' || this.#ids.has(id)) id = this.#dependencies.createId();
    this.#ids.add(id);
    return id === call.id ? call : { ...call, id };
  }

  async #say(notice: Notice): Promise<void> {
    this.#notices.push(notice);
    await this.#send({ kind: 'notice', notice });
  }

  #send(content: Content): Promise<void> {
    const { params, send } = this.#options;
    return send({ ...content, streamId: params.streamId, seq: this.#seq++ });
  }

  /** Adds the message that answers each call, whether or not it ran. */
  async #runCalls(
    calls: readonly ToolCall[],
    { offer, repeats, bounds, ...round }: RoundOfCalls,
  ): Promise<void> {
    const { params, signal } = this.#options;
    const { onDidAllow, onProgress } = this.#dependencies;
    const { tools, adviceOn } = offer;
    const context = bounds && withoutUndefined<CallContext>({ ...bounds, turn: this.#turn() });
    const { mode } = this;
    const turn = { streamId: params.streamId, signal, mode, unread: this.#unread, told: this.#told };
    const options = withoutUndefined<ToolRunOptions>({
      ...{ ...turn, ...round, bounds: context, tools, adviceOn, onDidAllow, onProgress },
      onOutcome: (call, outcome, tool) => {
        this.#note(outcome);
        return repeats?.note(call, outcome, tool) ?? outcome;
      },
      askApproval: this.#dependencies.askApproval(),
      askElicitation: this.#dependencies.askElicitation(),
      onResult: (toolResult) => this.#send({ kind: 'toolResult', toolResult }),
    });
    this.#added.push(...(await runCalls(calls, options)));
    const forgiven = this.#forgiven;
    if (forgiven !== undefined && !this.#notices.some(({ code }) => code === 'edit-forgiven'))
      await this.#say({
        code: 'edit-forgiven',
        message: `The model copied a text of ${forgiven} badly, and the one place that it can mean was changed. Look at the edits.`,
      });
  }

  #note({ edit, check, isForgiven }: CallOutcome): void {
    if (edit) this.#edits.push(edit);
    if (check) this.#checks.push(check);
    if (isForgiven) this.#forgiven ??= edit?.path;
  }

  /** Undefined if the conversation is not kept. */
  #turn(): CallContext['turn'] {
    const { session, messages } = this.#options.params;
    if (session === undefined) return undefined;
    this.#id ??= this.#dependencies.createId();
    return { session, prompt: messages.filter(({ role }) => role === 'user').length, id: this.#id };
  }

  #result(finishReason: ChatResult['finishReason'], message: Message): ChatResult {
    const [messages, usage, notices] = [this.#added, this.#usage, this.#notices];
    const result = { finishReason, message, messages, usage, notices };
    if (!this.#agent) return result;
    const { cleared } = this.#agent;
    const [rounds, edits, checks] = [this.#rounds, this.#edits, this.#checks];
    return { ...result, agent: withoutUndefined<AgentResult>({ rounds, cleared, edits, checks }) };
  }
}

/** The calls of a failed answer get answers too, so that it can be sent as history. */
function withAnswers(partial: Message): readonly Message[] {
  const { toolCalls = [] } = partial;
  const answers = toolCalls.map(({ id, name }): Message => {
    return { role: 'tool', content: callEndings.notRun, toolCallId: id, toolName: name };
  });
  return [partial, ...answers];
}

function isEmpty({ content, thinking, toolCalls }: Message): boolean {
  return content === '' && !thinking && !toolCalls?.length;
}
