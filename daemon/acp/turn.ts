import type { StopReason } from '@agentclientprotocol/sdk';
import { withoutUndefined } from '../../protocol/base/json.ts';
import type { ChatParams, ChatResult, FinishReason, Message } from '../../protocol/messages/chat.ts';
import type { Model } from '../../protocol/messages/models.ts';
import type { FilledPrompt } from '../../protocol/messages/prompts.ts';
import { RunnerError } from '../base/errors.ts';
import type { AskApproval, AskElicitation, DaemonTool } from '../chat/daemonTools.ts';
import type { AgentModes } from '../chat/permissions.ts';
import type { TurnTools } from '../chat/toolLoop.ts';
import type { Core } from '../compose/core.ts';
import type { Runner } from '../runner/runner.ts';
import type { ModelOptions } from './modelOptions.ts';
import { thinkOf } from './pickers.ts';
import type { AcpSession } from './sessions.ts';
import type { RunningTools, SessionTools } from './sessionTools.ts';
import type { UpdateSender } from './updateSender.ts';

interface TurnParts {
  readonly core: Pick<Core, 'turns' | 'servers' | 'places' | 'configuration'>;
  readonly tools: SessionTools;
  readonly modes: AgentModes;
  readonly ask: AskApproval;
  /** Undefined if the user cannot be asked what a tool server wants to know. */
  readonly askElicitation: AskElicitation | undefined;
  readonly options: ModelOptions;
  readonly session: AcpSession;
  readonly updates: UpdateSender;
  /** Sends the pickers of the sessions whose pickers have changed. */
  readonly updateSessions: () => Promise<void>;
  /** The turn was added to the conversation on the disk, whose title may be known now. */
  readonly onDidKeep: () => Promise<void>;
  /** The prompt that the user has called by its name: its model and its tools are for this turn only. */
  readonly prompt: FilledPrompt | undefined;
  readonly signal: AbortSignal;
}

const stopReasons: Readonly<Record<FinishReason, StopReason>> = {
  stop: 'end_turn',
  length: 'max_tokens',
  // The client has no tools of its own, so the call of an unknown tool ends the turn.
  toolCalls: 'end_turn',
  toolLimit: 'max_turn_requests',
  toolLoop: 'max_turn_requests',
  cancelled: 'cancelled',
};

/** Answers one prompt. */
export async function takeTurn(parts: TurnParts, message: Message): Promise<StopReason> {
  const { core, options, prompt, session, updates } = parts;
  const model = prompt?.model ?? (await modelFor(parts));
  const known = options.models.find(({ name }) => name === model);
  const think = thinkOf(session.thinking, known);
  const params: ChatParams = withoutUndefined({
    streamId: session.id,
    session: session.id,
    history: 'kept' as const,
    model,
    messages: [message],
    think,
    options: session.runnerOptions,
    agent: session.mode && { mode: session.mode },
    maxRounds: session.rounds ?? core.configuration.current.rounds,
  });
  const result = await answer(parts, params);
  await parts.onDidKeep();
  if (result.finishReason === 'toolLimit')
    await updates.notice({
      message: `All ${params.maxRounds} rounds of tools are used, so the work may be half done. Say "go on" to go on, or set "rounds" higher.`,
    });
  if (result.finishReason === 'toolLoop')
    await updates.notice({
      message: 'The model made the same calls again and again, so it had to answer without tools.',
    });
  if (result.finishReason !== 'cancelled') await updates.usage(result.usage, known);
  return stopReasons[result.finishReason];
}

/** The answer, with the session's tools if the model takes any. */
async function answer(parts: TurnParts, named: ChatParams): Promise<ChatResult> {
  const { core, prompt, session, tools, updates, signal } = parts;
  const { runner, model } = await core.places.find(named, signal);
  const params = { ...named, model };
  if (!(await core.turns.takesTools(runner, model, signal))) {
    await noticeUnusedTools(parts, model);
    return core.turns.with(undefined, { forgetsThinking: true })(runner, params, updates.delta, signal);
  }
  return tools.run(session.id, async (running) => {
    await running.require('all');
    if (params.agent?.mode) await running.requireMode(params.agent.mode, signal);
    return answerWithTools(
      parts,
      { runner, params: { ...params, hostedTools: prompt?.tools ?? 'all' } },
      running,
    );
  });
}

function answerWithTools(
  { core, ask, askElicitation, modes, updates, signal }: TurnParts,
  { runner, params }: { readonly runner: Runner; readonly params: ChatParams },
  running: RunningTools,
): Promise<ChatResult> {
  let daemonTools: readonly DaemonTool[] = [];
  const tools: TurnTools = {
    tools: {
      has: (servers) => running.has(servers),
      async offer(...wanted) {
        const offer = await running.offer(...wanted);
        daemonTools = offer.tools;
        return offer;
      },
    },
    askApproval: () => ask,
    askElicitation: () => askElicitation,
    modes,
    onDidAllow: updates.started,
    onProgress: updates.progress,
  };
  return core.turns.with(tools, { forgetsThinking: true })(
    runner,
    params,
    (delta) => {
      if (delta.kind !== 'toolCall') return updates.delta(delta);
      const { toolCall } = delta;
      return updates.call(
        toolCall,
        daemonTools.find(({ name }) => name === toolCall.name),
      );
    },
    signal,
  );
}

/** Once in a session, if there are tool servers that this model cannot use. */
async function noticeUnusedTools({ session, tools, updates }: TurnParts, model: string): Promise<void> {
  if (session.knowsOfUnusedTools) return;
  const hasTools = await tools.run(session.id, async (running) => {
    await running.require('all');
    return running.has('all');
  });
  if (!hasTools) return;
  session.knowsOfUnusedTools = true;
  await updates.notice({
    message: `${model} cannot use tools, so they are left out. Choose a model with tools to use them.`,
  });
}

/**
 * The model that answers. If the runner cannot list its models, it is the one that was chosen before.
 * @throws {RunnerError} `model-not-found`, if there is none.
 */
async function modelFor({
  core,
  options,
  session,
  updates,
  updateSessions,
  signal,
}: TurnParts): Promise<string> {
  const before = session.model;
  try {
    await options.list(signal);
  } catch (error) {
    if (before === undefined || signal.aborted || !(error instanceof RunnerError)) throw error;
    return before;
  }
  await updateSessions();
  const { model } = session;
  if (model === undefined) throw noModel(await core.servers.runner(undefined, signal), options.models);
  if (before !== undefined && before !== model)
    await updates.notice({ message: `${before} is not installed any more; ${model} answers.` });
  else if (session.missingModel !== undefined)
    await updates.notice({
      message: `The model ${session.missingModel}, which is set as the chat model, is not installed or cannot chat; ${model} answers.`,
    });
  session.missingModel = undefined;
  return model;
}

function noModel({ server: { url }, pull }: Runner, chatModels: readonly Model[]): RunnerError {
  const get = pull
    ? 'Pull one, for example with "ollama pull qwen3:4b"'
    : 'Load one in the program that serves the models';
  if (chatModels.length > 0 && chatModels.every(({ remote }) => remote))
    return new RunnerError(
      'model-not-found',
      `Nothing was sent: every model of the runner at ${url} that can chat runs elsewhere. Choose one of them in the model picker. Or take one of your own. ${get}.`,
    );
  return new RunnerError(
    'model-not-found',
    `The runner at ${url} has no model that can chat. ${get}, and ask again.`,
  );
}
