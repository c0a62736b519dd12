import { createFindPrivacy, type FindPrivacy } from '../base/filePrivacy.ts';
import { createLog, type WrittenLog } from '../base/log.ts';
import { type Chat, createChat } from '../chat/chat.ts';
import { createTokenEstimate } from '../chat/tokenEstimate.ts';
import { createToolCallId } from '../chat/toolUtilities.ts';
import { type ConfigurationStore, createConfiguration, readHost } from '../config/configuration.ts';
import { createWordsRedaction, redactMessage } from '../config/messageRedaction.ts';
import { createSecretReading, type SecretSources } from '../config/secretReading.ts';
import { createSecretStore, type SecretStore } from '../config/secrets.ts';
import type { UserConfig, UserFile } from '../config/userFile.ts';
import { type ChatModels, createChatModels } from '../models/chatModel.ts';
import { createChatModelChoices } from '../models/chatModelChoices.ts';
import { createModelKnowledge, type ModelKnowledge } from '../models/knowledge.ts';
import { createModelChanges, type ModelChanges } from '../models/modelChanges.ts';
import { createModels, type Models } from '../models/models.ts';
import { createToolRefusals, type ToolRefusals } from '../models/toolRefusals.ts';
import { createToolSupport } from '../models/toolSupport.ts';
import type { RunnerClient } from '../runner/client.ts';
import { createServers, type Servers } from '../runner/servers.ts';
import { createLazySessions, type LazySessions } from '../sessions/lazySessions.ts';
import { recordTurns } from '../sessions/recordedChat.ts';
import { createStatus, type StatusMonitor } from '../status/status.ts';

export interface CoreOptions {
  /** The address of the runner where the editor names none; `OLLAMA_HOST`, or the practice runner's. */
  readonly host?: string;
  /** The user's own configuration, which holds where neither the editor nor the environment says otherwise. */
  readonly user: UserFile;
  /** Reads the secrets from wherever they come, once the address is known; requests wait until it settles. */
  readonly readSecrets: (sources: SecretSources) => Promise<void>;
  /** Where conversations are kept; absent keeps none. */
  readonly sessionsFolder?: string;
  /** Where the chat models are kept that the user chose last; absent keeps them for the daemon's life. */
  readonly chatModelFile?: string;
  readonly now: () => number;
  readonly random: () => number;
}

/**
 * All that is true about the runners, over no connection in particular. What its parts tell of their own accord are
 * events; each adapter says them in the words of its protocol.
 */
export interface Core {
  readonly configuration: ConfigurationStore;
  readonly secrets: SecretStore;
  readonly log: WrittenLog;
  readonly servers: Servers;
  readonly status: StatusMonitor;
  readonly knowledge: ModelKnowledge;
  readonly models: Models;
  readonly chatModels: ChatModels;
  readonly findPrivacy: FindPrivacy;
  readonly modelChanges: ModelChanges;
  readonly toolRefusals: ToolRefusals;
  /** Where it names a conversation that is kept, what the turn adds is appended to it. */
  readonly chat: Chat;
  /** The same chat; the turns of one that names a conversation are kept in it. */
  readonly recordTurns: (chat: Chat) => Chat;
  readonly sessions: LazySessions;
  /** What the user's own configuration says now; what cannot be used of it is logged, each fault once. */
  readonly readUserConfig: () => Promise<UserConfig>;
  /** Logs what was wrong before anybody could be told. */
  readonly warnOfStart: () => void;
  readonly headersFor: (url: string) => Promise<Readonly<Record<string, string>>>;
  /** The models of this server are others now. */
  readonly noteModels: (client: RunnerClient) => void;
  /** The configuration is known: the secrets are read. */
  start(): void;
}

/** `closed` is aborted when nobody is there to be told any more. */
export function createCore(options: CoreOptions, closed: AbortSignal): Core {
  const { settings: usual, auth, problems: unusable } = options.user.atStart;
  const { host, problem } = readHost(options.host);
  const configuration = createConfiguration(host, usual);
  const settings = () => configuration.current;
  const secrets = createSecretStore();
  const { redact } = secrets;
  const log = createLog({ level: () => settings().logLevel, redact });
  const reading = createSecretReading({
    ...{ store: secrets, userFile: options.user, log },
    read: (url) => options.readSecrets({ store: secrets, url, auth, log }),
  });
  const { headersFor, runnerHeadersFor, whyWithheld } = reading;
  const servers = createServers({ settings, headersFor: runnerHeadersFor, whyWithheld, redact });
  const status = createStatus({ client: () => servers.client(), whyWithheld, closed });
  const knowledge = createModelKnowledge();
  const toolSupport = createToolSupport();
  const toolRefusals = createToolRefusals({ toolSupport, knowledge });
  const models = createModels(knowledge, options.now);
  const choices = createChatModelChoices(options.chatModelFile, log);
  const modelChanges = createModelChanges(closed);
  const warnOfConfiguration = (faults: readonly string[]) => {
    for (const fault of faults) log.warn(fault, { code: 'configuration' });
  };
  const readUserConfig = async () => {
    const config = await options.user.read();
    warnOfConfiguration(config.problems);
    return config;
  };
  const { sessionsFolder: folder, now, random } = options;
  const sessions = createLazySessions({
    ...{ settings, now, random, closed },
    ...(folder === undefined ? {} : { folder }),
    redact: (value) => redactMessage(value, secrets.redaction),
    userSettings: async () => (await readUserConfig()).sessions,
    secretsAreRead: () => headersFor(servers.client().server.url),
  });
  const findPrivacy = createFindPrivacy(() => settings().exclude);
  const chat = createChat({
    findPrivacy,
    knowledge,
    toolSupport,
    estimate: createTokenEstimate(),
    learn: models.learn,
    defaults: settings,
    createId: () => createToolCallId(options.random),
    createRedaction: () => createWordsRedaction(secrets.redaction),
  });

  servers.onDidAnswer(status.answered);
  status.onDidReturn(modelChanges.note);
  knowledge.onDidLoad(modelChanges.note);
  // Who was refused may be let in now, and may see other models.
  reading.onDidChange(() => {
    modelChanges.note();
    status.check(servers.client(), closed).catch((error) => log.debug(`The check ended: ${error}`));
  });

  return {
    configuration,
    secrets,
    log,
    servers,
    status,
    knowledge,
    models,
    chatModels: createChatModels({ models, settings, choices, isRemote: knowledge.isRemote }),
    modelChanges,
    toolRefusals,
    chat,
    findPrivacy,
    recordTurns: (kept) => recordTurns(kept, { sessions, log }),
    sessions,
    readUserConfig,
    warnOfStart() {
      if (problem !== undefined) log.warn(problem);
      warnOfConfiguration(unusable);
    },
    headersFor,
    noteModels(client) {
      models.forgetList(client);
      modelChanges.note();
    },
    start: () => reading.start(servers.client().server.url),
  };
}
