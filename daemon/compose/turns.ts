import { createEmitter } from '../base/event.ts';
import type { FindPrivacy } from '../base/filePrivacy.ts';
import type { Log } from '../base/log.ts';
import { type ChatRound, type ChatTurn, createChat } from '../chat/chat.ts';
import { createLastingNotices } from '../chat/lastingNotices.ts';
import { createToolLoop, type TurnTools } from '../chat/toolLoop.ts';
import { createToolCallId } from '../chat/toolUtilities.ts';
import { createTokenEstimate, createWindows } from '../chat/turnWindow.ts';
import type { ConfigurationStore } from '../config/configuration.ts';
import { createWordsRedaction } from '../config/messageRedaction.ts';
import type { SecretStore } from '../config/secrets.ts';
import type { ModelCapabilities } from '../models/modelCapabilities.ts';
import type { ModelPlaces } from '../models/modelPlaces.ts';
import type { Models } from '../models/models.ts';
import type { ToolSupport } from '../models/toolSupport.ts';
import type { Runner } from '../runner/runner.ts';
import { type LazySessions, recordTurns } from '../sessions/recordTurns.ts';

interface TurnParts {
  readonly configuration: ConfigurationStore;
  readonly findPrivacy: FindPrivacy;
  readonly knowledge: ModelCapabilities;
  readonly log: Log;
  readonly models: Models;
  /** Called when the list of models of this server has changed. */
  readonly noteModels: (runner: Runner) => void;
  readonly places: ModelPlaces;
  readonly random: () => number;
  readonly secrets: SecretStore;
  readonly sessions: LazySessions;
  readonly toolSupport: ToolSupport;
}

export type ChatTurns = ReturnType<typeof createTurns>;

/** Puts the turns of all chats together. What one turn must know of another one of its conversation is kept here. */
export function createTurns(parts: TurnParts) {
  const { configuration, findPrivacy, knowledge, models, noteModels, secrets, sessions, toolSupport } = parts;
  const defaults = () => configuration.current;
  const createId = () => createToolCallId(parts.random);
  const estimate = createTokenEstimate();
  const beginnings = createEmitter<void>();
  const answer = createChat({
    ...{ findPrivacy, knowledge, toolSupport, estimate, defaults, createId },
    learn: (...asked) => models.learn(...asked),
    onDidMissModel: noteModels,
    checkFormat: async (...answer) => (await import('../chat/answerFormat.ts')).problemOfFormat(...answer),
    createRedaction: () => createWordsRedaction(secrets.redaction),
  });
  const round: ChatRound = (...request) => {
    beginnings.fire();
    return answer(...request);
  };
  const findWindow = createWindows({
    ...{ knowledge, estimate, defaults },
    clearedIn: async (id) => (await (await sessions.get()).read(id).catch(() => undefined))?.cleared,
  });
  /** False if the model is known to have no tools. Some models must be asked for. */
  const takesTools = async (runner: Runner, model: string, signal: AbortSignal) => {
    await models.learn(runner, model, ['tools'], signal);
    return knowledge.capability(runner.server, model, 'tools').value !== false;
  };
  const withLastingNoticesOnce = createLastingNotices();
  return {
    /** Another round begins, which wants the runner. */
    onDidBegin: beginnings.event,
    round,
    takesTools,
    /**
     * The turns of a client, from the inside to the outside. With `forgetsThinking` the model does not read what it
     * thought in earlier turns.
     */
    with(tools: TurnTools | undefined, { forgetsThinking = false } = {}): ChatTurn {
      const rounds: ChatTurn = tools
        ? createToolLoop({ chat: round, takesTools, findWindow, createId, ...tools })
        : round;
      const bounded: ChatTurn = (runner, params, ...rest) => {
        const messages = forgetsThinking
          ? params.messages.map(({ thinking: _, ...message }) => message)
          : params.messages;
        return rounds(runner, { maxRounds: defaults().rounds, ...params, messages }, ...rest);
      };
      const kept = recordTurns(bounded, parts);
      return withLastingNoticesOnce(kept);
    },
  };
}
