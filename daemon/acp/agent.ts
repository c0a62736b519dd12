import { isAbsolute } from 'node:path';
import type {
  InitializeRequest,
  InitializeResponse,
  NewSessionRequest,
  NewSessionResponse,
  PromptRequest,
  PromptResponse,
  SetSessionConfigOptionRequest,
  SetSessionConfigOptionResponse,
} from '@agentclientprotocol/sdk';
import { linkedSignal } from '../abort.ts';
import type { Core } from '../core.ts';
import { InvalidParamsError, RunnerError } from '../errors.ts';
import type { Client } from './client.ts';
import { createOffer, type Offer } from './offer.ts';
import { isThinkingChoice, modelPicker, thinkingPicker } from './pickers.ts';
import { promptToMessage } from './promptMessage.ts';
import { createSessions, type Session } from './sessions.ts';
import { createTeller } from './teller.ts';
import { takeTurn } from './turn.ts';

/** What is answered, method by method. Each throws errors of the daemon. */
export interface Agent {
  initialize(params: InitializeRequest): InitializeResponse;
  newSession(params: NewSessionRequest, signal: AbortSignal): Promise<NewSessionResponse>;
  setOption(
    params: SetSessionConfigOptionRequest,
    signal: AbortSignal,
  ): Promise<SetSessionConfigOptionResponse>;
  /** A cancelled prompt is a normal answer. */
  prompt(params: PromptRequest, client: Client): Promise<PromptResponse>;
  cancel(sessionId: string): void;
  closeSession(sessionId: string): void;
  /** The models may be others now: who has a picker is told. */
  modelsChanged(client: Client): Promise<void>;
  /** Nobody listens any more. */
  close(): void;
}

export interface AgentParts {
  readonly core: Pick<Core, 'chat' | 'models' | 'servers' | 'log'>;
  readonly version: string;
  readonly createId: () => string;
}

/** An agent that chats: no tools, no files, no terminal. */
export function createAgent({ core, version, createId }: AgentParts): Agent {
  const sessions = createSessions(createId);
  const offer = createOffer({ core, sessions });
  let takesNotices = false;

  return {
    initialize({ clientCapabilities }) {
      takesNotices = Boolean(clientCapabilities?.session?.notices);
      return introduction(version);
    },

    async newSession({ cwd }, signal) {
      if (!isAbsolute(cwd)) throw new InvalidParamsError('cwd', 'it is not an absolute path');
      await offer.list(signal).catch((error) => {
        if (signal.aborted || !(error instanceof RunnerError)) throw error;
        // The first prompt says it to the user, if it still holds by then.
        core.log.warn(`session/new: ${error.kind}: ${error.message}`);
      });
      const session = sessions.open();
      return { sessionId: session.id, configOptions: offer.pickers(session) };
    },

    async setOption({ sessionId, configId, value }, signal) {
      const session = sessions.get(sessionId);
      if (configId === thinkingPicker) chooseThinking(session, value);
      else if (configId === modelPicker) await chooseModel(session, { value, offer, signal });
      else throw new InvalidParamsError('configId', `there is no option "${configId}"`);
      return { configOptions: offer.pickers(session) };
    },

    async prompt({ sessionId, prompt }, { update, signal: asked }) {
      const session = sessions.get(sessionId);
      const message = promptToMessage(prompt);
      return inTurn(session, asked, async (signal) => {
        const teller = createTeller({ update: (said) => update(sessionId, said), takesNotices, signal });
        const settle = () => offer.settle(update);
        return { stopReason: await takeTurn({ core, offer, session, teller, settle, signal }, message) };
      });
    },

    cancel: (sessionId) => sessions.get(sessionId).turn?.abort(),
    closeSession: (sessionId) => sessions.close(sessionId),

    async modelsChanged({ update, signal }) {
      if (sessions.all().length === 0) return;
      await offer.list(signal, { refresh: false });
      await offer.settle(update);
    },

    close() {
      for (const { id } of sessions.all()) sessions.close(id);
    },
  };
}

/** The only version of the protocol that is spoken: a client of a newer one falls back to it, or leaves. */
const acpVersion = 1;

function introduction(version: string): InitializeResponse {
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
}

function chooseThinking(session: Session, value: unknown): void {
  if (!isThinkingChoice(value)) throw new InvalidParamsError('value', 'it is none of the choices');
  session.thinking = value;
}

/** One that is not known may be new; a runner that does not answer leaves what is known. */
async function chooseModel(
  session: Session,
  { value, offer, signal }: { value: unknown; offer: Offer; signal: AbortSignal },
): Promise<void> {
  const find = () => offer.models.find(({ name }) => name === value);
  if (!find())
    await offer.list(signal).catch((error) => {
      if (!(error instanceof RunnerError)) throw error;
    });
  const chosen = find();
  if (!chosen) throw new InvalidParamsError('value', `there is no model "${String(value)}" that can chat`);
  session.model = chosen.name;
}

/** Runs the one turn of a session; its signal is aborted by the request's, and by a cancel of the session. */
async function inTurn(
  session: Session,
  signal: AbortSignal,
  work: (turn: AbortSignal) => Promise<PromptResponse>,
): Promise<PromptResponse> {
  if (session.turn)
    throw new InvalidParamsError('sessionId', 'it is still answering; wait for its answer, or cancel it');
  const turn = linkedSignal(signal);
  session.turn = turn;
  try {
    return await work(turn.signal);
  } catch (error) {
    if (turn.signal.aborted) return { stopReason: 'cancelled' };
    throw error;
  } finally {
    turn.unlink();
    session.turn = undefined;
  }
}
