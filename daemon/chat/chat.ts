import { type LinkedSignal, linkedSignal } from '../../protocol/base/abort.ts';
import { withoutUndefined } from '../../protocol/base/json.ts';
import type { StreamRedaction } from '../../protocol/base/redaction.ts';
import type { ChatParams, ChatResult, FinishReason, ToolCall, Usage } from '../../protocol/messages/chat.ts';
import { RunnerError } from '../base/errors.ts';
import type { FindPrivacy } from '../base/filePrivacy.ts';
import { createYielder } from '../base/yielder.ts';
import { type ModelCapabilities, modelId } from '../models/modelCapabilities.ts';
import type { Models } from '../models/models.ts';
import { checkModelName } from '../models/name.ts';
import { type ToolSupport, type ToolVerdict, verdictOfRefusal } from '../models/toolSupport.ts';
import { brokenOff, type ChatPart, type ChatRequest, endOf, type Runner } from '../runner/runner.ts';
import { RoundAnswer } from './answer.ts';
import type { problemOfFormat } from './answerFormat.ts';
import { joined, LoopWatch } from './answerText.ts';
import {
  askedWindow,
  contextNames,
  mayStartInThinking,
  neededCapabilities,
  type Plan,
  planChat,
  requestOf,
  sentContext,
} from './chatPlan.ts';
import {
  answerEmpty,
  answerLoops,
  answerLost,
  createDeltaPump,
  createNotices,
  type DeltaPump,
  type Notices,
  type SendDelta,
  schemasSimplified,
  toolsDisabled,
  waiting,
} from './deltas.ts';
import { noticesAbout, type PrivateFile, recipientOf, screenAttachments } from './privateAttachments.ts';
import { PromptFit } from './promptFit.ts';
import { type PromptSize, promptSizeOf, type TokenEstimate } from './turnWindow.ts';

interface ChatDependencies {
  readonly knowledge: ModelCapabilities;
  readonly toolSupport: ToolSupport;
  readonly estimate: TokenEstimate;
  /** Asks the runner for these capabilities if they are not known. They may stay unknown. */
  readonly learn: Models['learn'];
  /** The runner does not have a model that was asked, so the list that clients show is out of date. */
  readonly onDidMissModel: (runner: Runner) => void;
  /** The configuration's current defaults. */
  readonly defaults: () => { readonly keepAlive?: string | number; readonly contextLength?: number };
  readonly createId: () => string;
  readonly findPrivacy: FindPrivacy;
  /** A sentence about an answer that is not in its format. The validator is loaded with the first one. */
  readonly checkFormat: (...answer: Parameters<typeof problemOfFormat>) => Promise<string | undefined>;
  /** Removes secrets from what a runner writes. */
  readonly createRedaction: () => StreamRedaction;
}

/**
 * Answers one request for a chat with a whole turn: deltas go to `send`, the whole answer is the result. An aborted
 * `signal` is a normal, cancelled result. `compose/turns.ts` puts it together, from rounds.
 */
export type ChatTurn = (
  runner: Runner,
  params: ChatParams,
  send: SendDelta,
  signal: AbortSignal,
) => Promise<ChatResult>;

/** Asks the model once, with everything that it is to read. It runs no tool, and keeps nothing. */
export type ChatRound = (...request: Parameters<ChatTurn>) => Promise<RoundResult>;

export interface RoundResult extends ChatResult {
  /** Calls whose arguments cannot be read, for a loop that answers them. They do not cross the wire. */
  readonly unread?: readonly ToolCall[];
  /** The limit of tokens has cut the last call, which may have been mended. It does not cross the wire. */
  readonly isCut?: boolean;
}

export function createChat(dependencies: ChatDependencies): ChatRound {
  return async (runner, params, send, signal) => {
    checkModelName(runner, params.model);
    const pump = createDeltaPump(params.streamId, send);
    const { messages, privateFiles } = await screenAttachments(params.messages, dependencies.findPrivacy);
    const screened = { ...params, messages };
    const round = new Round(dependencies, { runner, params: screened, privateFiles, pump, signal });
    const finishReason = await round.run();
    await pump.flush();
    return round.result(finishReason);
  };
}

interface RoundOptions {
  readonly runner: Runner;
  readonly params: ChatParams;
  readonly privateFiles: readonly PrivateFile[];
  readonly pump: DeltaPump;
  readonly signal: AbortSignal;
}

/** The state of one round, from the request to its end. */
class Round {
  readonly #dependencies: ChatDependencies;
  readonly #options: RoundOptions;
  /** Aborted with the caller's signal, or when the round ends early for a reason of its own. */
  readonly #stop: LinkedSignal;
  readonly #notices: Notices;
  #answer: RoundAnswer;
  #usage: Usage = { promptTokens: 0, completionTokens: 0 };
  #isCut = false;

  constructor(dependencies: ChatDependencies, options: RoundOptions) {
    this.#dependencies = dependencies;
    this.#options = options;
    this.#stop = linkedSignal(options.signal);
    this.#notices = createNotices(options.pump);
    this.#answer = this.#createAnswer([]);
  }

  async run(): Promise<FinishReason> {
    const { signal } = this.#options;
    try {
      await this.#learn();
      this.#noticePrivateFiles();
      return await this.#converse(this.#plan());
    } catch (error) {
      if (!signal.aborted) throw await this.#failed(error);
      this.#end('cancelled');
      return 'cancelled';
    } finally {
      this.#stop.abort();
    }
  }

  result(finishReason: FinishReason): RoundResult {
    const { unread } = this.#answer;
    return {
      ...(unread.length === 0 ? {} : { unread }),
      ...(this.#isCut ? { isCut: true } : {}),
      finishReason,
      message: this.#answer.message(),
      usage: this.#usage,
      notices: this.#notices.all,
    };
  }

  async #learn(): Promise<void> {
    const { runner, params } = this.#options;
    const { learn } = this.#dependencies;
    await runner.ready?.(
      params.model,
      () => this.#notices.add(waiting('loading', params.model)),
      this.#stop.signal,
    );
    return learn(runner, params.model, neededCapabilities(params, runner.facts), this.#stop.signal);
  }

  /** Where the model runs is known by now. */
  #noticePrivateFiles(): void {
    const { runner, params, privateFiles } = this.#options;
    const recipient = recipientOf(runner.server, params.model, this.#dependencies.knowledge);
    for (const notice of noticesAbout(privateFiles, recipient)) this.#notices.add(notice);
  }

  #plan(refusesThinking = false): Plan {
    const { runner, params } = this.#options;
    return planChat(params, runner, { knowledge: this.#dependencies.knowledge, refusesThinking });
  }

  /**
   * Sends the request. If the runner refuses the tools or the thinking in it, the same request is sent without them.
   */
  async #converse(plan: Plan): Promise<FinishReason> {
    const { runner, params } = this.#options;
    const { knowledge } = this.#dependencies;
    const offered = plan.tools.length > 0;
    const admission = offered ? await this.#admitTools() : undefined;
    const report = (verdict: ToolVerdict) => admission?.report(verdict);
    const tools = admission?.send ? plan.tools : [];
    try {
      for (const notice of plan.notices) this.#notices.add(notice);
      if (offered && tools.length === 0) this.#noticeWithoutTools();
      return await this.#ask({ ...plan, tools }, () => report(tools.length > 0 ? 'enabled' : 'unknown'));
    } catch (error) {
      const refused =
        error instanceof RunnerError && !this.#answer.begun ? error.details.capability : undefined;
      if (refused === 'tools' && tools.length > 0) {
        report('disabled');
        this.#noticeWithoutTools();
        return await this.#converse({ ...plan, tools: [] });
      }
      const isLevel = refused === 'levels of thinking' && typeof plan.think === 'string';
      if (isLevel || (refused === 'thinking' && plan.think !== undefined)) {
        if (isLevel) knowledge.noteNoLevels(runner.server, params.model);
        else knowledge.observe(runner.server, params.model, { capability: 'thinking', value: false });
        report('unknown');
        return await this.#converse(this.#plan(!isLevel));
      }
      const verdict = tools.length > 0 && !this.#answer.begun ? verdictOfRefusal(error) : undefined;
      if (verdict !== undefined) return await this.#askWithout(plan, error, () => report(verdict));
      throw error;
    } finally {
      report('unknown');
    }
  }

  /** Whether the tools were refused shows once the same request is answered without them. */
  async #askWithout(plan: Plan, refusal: unknown, onAnswered: () => void): Promise<FinishReason> {
    const answered = () => {
      onAnswered();
      this.#noticeWithoutTools();
    };
    return await this.#ask({ ...plan, tools: [] }, answered).catch((error) => {
      throw this.#answer.begun ? error : refusal;
    });
  }

  /** What the user says of the model decides, or else what requests with tools have shown. */
  async #admitTools(): ReturnType<ToolSupport['admit']> {
    const { runner, params } = this.#options;
    const { toolSupport, knowledge } = this.#dependencies;
    const { value, from } = knowledge.capability(runner.server, params.model, 'tools');
    const wouldDrop = runner.facts.dropsTools === true && value === false;
    if (wouldDrop || from === 'configured') return { send: value === true, report: () => undefined };
    return toolSupport.admit(runner.server, params.model, this.#stop.signal);
  }

  #noticeWithoutTools(): void {
    this.#notices.add(toolsDisabled(this.#options.params.model));
  }

  #createAnswer(tools: Plan['tools']): RoundAnswer {
    const { runner, params, pump } = this.#options;
    const { knowledge, createId, createRedaction } = this.#dependencies;
    const isOpened = knowledge.startsInThinking(runner.server, params.model);
    return new RoundAnswer({
      params,
      thinks: knowledge.thinks(runner.server, params.model),
      startsInThinking: isOpened && mayStartInThinking(params),
      expectsCallsInText: knowledge.leavesCalls(runner.server, params.model),
      tools,
      contextTags: contextNames(params),
      sent: sentContext(params),
      pump,
      notice: this.#notices.add,
      createId,
      createRedaction,
    });
  }

  async #ask(plan: Plan, onAnswered: () => void): Promise<FinishReason> {
    const { runner, params, pump } = this.#options;
    const defaults = this.#dependencies.defaults();
    const size = promptSizeOf(plan.messages, plan.tools);
    const request = requestOf(params, plan, defaults);
    const fit = this.#createFit(size, request);
    await fit.begin();
    this.#answer = this.#createAnswer(plan.tools);
    let last: ChatPart | undefined;
    const yieldNow = createYielder();
    const watch = plan.tools.length > 0 ? new LoopWatch() : undefined;
    try {
      for await (const parts of runner.chat(request, this.#stop.signal)) {
        const [first] = parts;
        if (first?.waitsFor) this.#notices.add(waiting(first.waitsFor, params.model));
        if (first?.simplified) this.#notices.add(schemasSimplified(first.simplified));
        if (first?.waitsFor || first?.simplified) continue;
        if (last === undefined) {
          onAnswered();
          void fit.learn();
        }
        for (const part of joined(parts)) {
          for (const _piece of this.#answer.add((last = part))) {
            const pause = yieldNow();
            if (pause) await pause;
          }
          watch?.add(part.thinking + part.content);
        }
        // The model would go on for ever. What it has written stays.
        if (watch?.isLooping) {
          this.#end('length');
          this.#notices.add(answerLoops);
          return 'length';
        }
        await pump.ready();
      }
    } catch (error) {
      throw await fit.withFigures(error);
    }
    return this.#finish(last, fit, size);
  }

  #createFit(size: PromptSize, request: ChatRequest): PromptFit {
    const { runner, params } = this.#options;
    const { knowledge, estimate } = this.#dependencies;
    const options = {
      ...{ runner, model: params.model, knowledge, size, request, signal: this.#stop.signal },
      asked: runner.facts.hasFixedWindows ? undefined : askedWindow(params),
      configured: runner.facts.hasFixedWindows ? undefined : request.contextLength,
      needed: estimate.estimate(modelId(runner.server, params.model), size),
      notice: this.#notices.add,
    };
    return new PromptFit(withoutUndefined(options));
  }

  async #finish(last: ChatPart | undefined, fit: PromptFit, size: PromptSize): Promise<FinishReason> {
    const { runner, params } = this.#options;
    const { server } = runner;
    const end = endOf(last?.doneReason ?? 'stop');
    if (end !== 'stop' && end !== 'length')
      throw new RunnerError('runner-failed', brokenOff(end), {
        details: { server: server.name, model: params.model },
      });
    this.#end(end);
    const { promptTokens = 0, completionTokens = 0 } = last ?? {};
    if (!this.#answer.begun && completionTokens > 1) this.#notices.add(answerLost(completionTokens));
    // An empty answer does not hold a format, which is said.
    else if (end === 'stop' && this.#answer.isEmpty && !params.format)
      this.#notices.add(answerEmpty(this.#answer.hasThought));
    this.#dependencies.estimate.calibrate(modelId(runner.server, params.model), size, promptTokens);
    const contextLength = await fit.allocated(promptTokens);
    this.#usage = withoutUndefined({ promptTokens, completionTokens, contextLength });
    if (end === 'length') fit.noticeCut(promptTokens + completionTokens);
    this.#isCut = end === 'length' && this.#answer.hasDoubtfulEnd;
    if (this.#answer.hasToolCalls) return 'toolCalls';
    await this.#checkFormat(end);
    return end;
  }

  async #checkFormat(finishReason: FinishReason): Promise<void> {
    const { format } = this.#options.params;
    if (!format) return;
    const text = this.#answer.message().content;
    const problem = await this.#dependencies.checkFormat(format, text, finishReason);
    if (problem !== undefined) this.#notices.add({ code: 'format-not-held', message: problem });
  }

  #end(reason: string): void {
    const { runner, params } = this.#options;
    this.#answer.finish(reason);
    const { knowledge } = this.#dependencies;
    const { hasThought, beganInThinking } = this.#answer;
    if (hasThought) knowledge.noteThought(runner.server, params.model);
    if (hasThought && runner.facts.triesUnknown)
      knowledge.observe(runner.server, params.model, { capability: 'thinking', value: true });
    if (mayStartInThinking(params) && reason === 'stop')
      knowledge.noteStart(runner.server, params.model, beganInThinking);
  }

  /** Keeps the answer so far: it is sent before the error, and the error carries it too. */
  async #failed(error: unknown): Promise<unknown> {
    this.#end('error');
    await this.#options.pump.flush();
    if (!(error instanceof RunnerError)) return error;
    if (error.kind === 'model-not-found') this.#dependencies.onDidMissModel(this.#options.runner);
    return this.#answer.begun ? error.with({ partial: this.#answer.message() }) : error;
  }
}
