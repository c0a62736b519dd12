import { isAbsolute } from 'node:path';
import type {
  InitializeRequest,
  InitializeResponse,
  NewSessionRequest,
  NewSessionResponse,
  PromptRequest,
  PromptResponse,
  SessionConfigOption,
  SessionUpdate,
  SetSessionConfigOptionRequest,
  SetSessionConfigOptionResponse,
  StopReason,
} from '@agentclientprotocol/sdk';
import type { ChatParams, FinishReason, Message } from '../../protocol/chat.ts';
import type { Model } from '../../protocol/models.ts';
import type { Core } from '../core.ts';
import { InvalidParamsError, RunnerError } from '../errors.ts';
import { canChat, isThinkingChoice, modelPicker, pickersOf, thinkingPicker, thinkOf } from './pickers.ts';
import { promptToMessage } from './promptMessage.ts';
import { createSessions, historyWith, type Session } from './sessions.ts';
import { createTeller, type Teller } from './teller.ts';

/** What is answered, method by method. Each throws errors of the daemon. */
export interface Agent {
  initialize(params: InitializeRequest): InitializeResponse;
  newSession(params: NewSessionRequest, signal: AbortSignal): Promise<NewSessionResponse>;
  setOption(
    params: SetSessionConfigOptionRequest,
    signal: AbortSignal,
  ): Promise<SetSessionConfigOptionResponse>;
  prompt(params: PromptRequest, signal: AbortSignal): Promise<PromptResponse>;
  cancel(sessionId: string): void;
  closeSession(sessionId: string): void;
  /** The models may be others now: who has a picker is told. */
  modelsChanged(): Promise<void>;
  /** Nobody listens any more. */
  close(): void;
}

export interface AgentParts {
  readonly core: Pick<Core, 'chat' | 'models' | 'servers' | 'status' | 'log'>;
  readonly version: string;
  readonly createId: () => string;
  /** Settles when it was written, which is the back-pressure. */
  readonly update: (sessionId: string, update: SessionUpdate) => Promise<void>;
  readonly closed: AbortSignal;
}

/** The newest version of ACP that is spoken, and the only one. */
const acpVersion = 1;

const stopReasons: Readonly<Record<FinishReason, StopReason>> = {
  stop: 'end_turn',
  length: 'max_tokens',
  // No tool is offered; whoever calls one all the same has ended its turn.
  toolCalls: 'end_turn',
  cancelled: 'cancelled',
};

/** An agent that chats: no tools, no files, no terminal. */
export function createAgent({ core, version, createId, update, closed }: AgentParts): Agent {
  const { chat, models, servers, status, log } = core;
  const sessions = createSessions(createId);
  let takesNotices = false;
  /** The models that can chat, as they were last listed. */
  let offered: readonly Model[] = [];

  const listModels = async (signal: AbortSignal, refresh = true) => {
    const { models: all } = await models.list(servers.client(), { refresh }, signal);
    offered = all.filter(canChat);
  };
  const pickers = (session: Session): SessionConfigOption[] => {
    const options = pickersOf(offered, session);
    session.told = JSON.stringify(options);
    return options;
  };
  const tellPickers = async () => {
    for (const session of sessions.all()) {
      const { told } = session;
      settleModel(session, offered);
      const configOptions = pickers(session);
      if (session.told !== told)
        await update(session.id, { sessionUpdate: 'config_option_update', configOptions });
    }
  };

  /** The model that answers; where the runner does not list, the one that was chosen before. */
  const modelFor = async (session: Session, teller: Teller, signal: AbortSignal): Promise<string> => {
    const before = session.model;
    try {
      await listModels(signal);
    } catch (error) {
      if (before === undefined || signal.aborted || !(error instanceof RunnerError)) throw error;
      return before;
    }
    await tellPickers();
    const { model } = session;
    if (model === undefined) throw noModel(servers.client().server.url);
    if (before !== undefined && before !== model)
      await teller.notice({ message: `${before} is not installed any more; ${model} answers.` });
    return model;
  };

  const answer = async (session: Session, message: Message, signal: AbortSignal): Promise<StopReason> => {
    const teller = createTeller({ update: (told) => update(session.id, told), takesNotices, signal });
    const messages = historyWith(session, message);
    const model = await modelFor(session, teller, signal);
    const known = offered.find(({ name }) => name === model);
    const think = thinkOf(session.thinking, known);
    const params: ChatParams = {
      ...{ streamId: session.id, model, messages },
      ...(think === undefined ? {} : { think }),
    };
    try {
      const result = await chat(servers.client(), params, teller.delta, signal);
      session.history = withAnswer(messages, result.message);
      if (result.finishReason !== 'cancelled') await teller.usage(result.usage, known);
      return stopReasons[result.finishReason];
    } catch (error) {
      const partial =
        error instanceof RunnerError ? (error.details.partial as Message | undefined) : undefined;
      // A question that nothing came of is asked again by the user; what had come can be gone on from.
      if (partial) session.history = withAnswer(messages, partial);
      throw error;
    }
  };

  return {
    initialize({ clientCapabilities }) {
      takesNotices = Boolean(clientCapabilities?.session?.notices);
      return {
        protocolVersion: acpVersion,
        agentInfo: { name: 'runnerd', title: 'Runner', version },
        agentCapabilities: {
          loadSession: false,
          promptCapabilities: { image: true, embeddedContext: true, audio: false },
          sessionCapabilities: { close: {} },
        },
        authMethods: [],
      };
    },

    async newSession({ cwd }, signal) {
      if (!isAbsolute(cwd)) throw new InvalidParamsError('cwd', 'it is not an absolute path');
      try {
        await listModels(signal);
      } catch (error) {
        if (signal.aborted || !(error instanceof RunnerError)) throw error;
        // The first prompt says it to the user, if it still holds by then.
        log.warn(`session/new: ${error.kind}: ${error.message}`);
      }
      const session = sessions.open();
      settleModel(session, offered);
      return { sessionId: session.id, configOptions: pickers(session) };
    },

    async setOption({ sessionId, configId, value }, signal) {
      const session = sessions.get(sessionId);
      if (configId === thinkingPicker) {
        if (!isThinkingChoice(value)) throw new InvalidParamsError('value', 'it is none of the choices');
        session.thinking = value;
      } else if (configId === modelPicker) {
        await listModels(signal).catch((error) => log.debug(`The models were not listed: ${String(error)}`));
        const chosen = offered.find(({ name }) => name === value);
        if (!chosen)
          throw new InvalidParamsError('value', `there is no model "${String(value)}" that can chat`);
        session.model = chosen.name;
      } else {
        throw new InvalidParamsError('configId', `there is no option "${configId}"`);
      }
      return { configOptions: pickers(session) };
    },

    async prompt({ sessionId, prompt }, signal) {
      const session = sessions.get(sessionId);
      const message = promptToMessage(prompt);
      if (session.turn)
        throw new InvalidParamsError('sessionId', 'it is still answering; wait for its answer, or cancel it');
      const turn = new AbortController();
      session.turn = turn;
      const cancel = () => turn.abort();
      signal.addEventListener('abort', cancel, { once: true });
      const done = status.work();
      try {
        return { stopReason: await answer(session, message, turn.signal) };
      } catch (error) {
        if (turn.signal.aborted) return { stopReason: 'cancelled' };
        if (error instanceof RunnerError) status.failed(error);
        throw error;
      } finally {
        signal.removeEventListener('abort', cancel);
        session.turn = undefined;
        done();
      }
    },

    cancel: (sessionId) => sessions.get(sessionId).turn?.abort(),
    closeSession: (sessionId) => sessions.close(sessionId),

    async modelsChanged() {
      if (sessions.all().length === 0) return;
      await listModels(closed, false);
      await tellPickers();
    },

    close() {
      for (const { id } of sessions.all()) sessions.close(id);
    },
  };
}

/** The session's model stays while it is there; else the one that is loaded, else the newest. */
function settleModel(session: Session, offered: readonly Model[]): void {
  if (offered.some(({ name }) => name === session.model)) return;
  const loaded = offered.find(({ running }) => running !== undefined);
  session.model = (loaded ?? offered[0])?.name;
}

function noModel(url: string): RunnerError {
  return new RunnerError(
    'model-not-found',
    `The runner at ${url} has no model that can chat. Pull one, for example with "ollama pull qwen3:4b", and ask again.`,
  );
}

/** A turn in the history: what was asked and said. Thinking and calls of tools that nobody has are not replayed. */
function withAnswer(messages: readonly Message[], { content }: Message): readonly Message[] {
  return content === '' ? messages : [...messages, { role: 'assistant', content }];
}
