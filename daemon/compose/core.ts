import { dirname, join } from 'node:path';
import { durationSeconds } from '../base/duration.ts';
import { createFindPrivacy, type FindPrivacy } from '../base/filePrivacy.ts';
import { type Lazy, lazily } from '../base/lazily.ts';
import { createLog, type WrittenLog } from '../base/log.ts';
import { unknownMarks } from '../chat/toolUtilities.ts';
import { type ConfigurationStore, createConfiguration, readHost } from '../config/configuration.ts';
import { redactMessage } from '../config/messageRedaction.ts';
import { createRequestSecrets, type RequestSecrets } from '../config/requestSecrets.ts';
import type { SecretSources } from '../config/secretSources.ts';
import { createSecretStore, type SecretStore } from '../config/secrets.ts';
import type { UserConfig, UserFile } from '../config/userFile.ts';
import type { Engine, EngineOptions } from '../engine/engine.ts';
import {
  createStartedRunner,
  type StartedRunner,
  type StartedRunnerOptions,
} from '../engine/startedRunner.ts';
import { type ChatModels, createChatModelChoices, createChatModels } from '../models/chatModel.ts';
import { ModelCapabilities } from '../models/modelCapabilities.ts';
import { ModelPlaces } from '../models/modelPlaces.ts';
import { createModelChanges, type ModelChanges, Models } from '../models/models.ts';
import { createToolRefusals, createToolSupport, type ToolRefusalStore } from '../models/toolSupport.ts';
import type { Prompts } from '../prompts/prompts.ts';
import type { Runner } from '../runner/runner.ts';
import { createServers, type Servers } from '../runner/servers.ts';
import { createLazySessions, type LazySessions } from '../sessions/recordTurns.ts';
import { createStatus, type StatusMonitor } from '../status/status.ts';
import type { McpServersOptions } from '../tools/mcpServers.ts';
import { createTurns, type Turns } from './turns.ts';

export interface CoreOptions {
  /** The address of the runner if the editor names none: `OLLAMA_HOST`, or the practice runner's. */
  readonly host?: string;
  /** The user's own configuration. It applies unless the editor or the environment says otherwise. */
  readonly user: UserFile;
  /** Reads the secrets from their source once the address is known. Requests wait until it settles. */
  readonly readSecrets: (sources: SecretSources) => Promise<void>;
  /** Where conversations are kept. If it is absent, none is kept. */
  readonly sessionsFolder?: string;
  /** Where answers about the prompts of workspaces are kept. If it is absent, they last as long as the daemon. */
  readonly promptAnswersFolder?: string;
  /** The file with the chat models that the user chose last. If it is absent, they last only as long as the daemon. */
  readonly chatModelFile?: string;
  /** Where what Runner starts itself is kept. If it is absent, nothing is started, and nothing that was is used. */
  readonly engine?: Omit<EngineOptions, 'keepAlive' | 'isKept'>;
  readonly now: () => number;
  readonly random: () => number;
}

/**
 * Everything about the runners, independent of any connection. What its parts report without being asked is an event;
 * each adapter sends it in the form of its protocol.
 */
export interface Core {
  readonly configuration: ConfigurationStore;
  readonly secrets: SecretStore;
  readonly log: WrittenLog;
  readonly servers: Servers;
  /** What Runner can start itself. */
  readonly engine?: Lazy<Engine>;
  /** The usual address counts again, until nothing answers there. */
  readonly forgetStarted: () => void;
  /** The settings have changed, which say what models can do, and how long what was started is kept. */
  readonly followSettings: () => Promise<void>;
  readonly status: StatusMonitor;
  readonly knowledge: ModelCapabilities;
  readonly models: Models;
  readonly places: ModelPlaces;
  readonly chatModels: ChatModels;
  readonly findPrivacy: FindPrivacy;
  readonly modelChanges: ModelChanges;
  readonly toolRefusals: ToolRefusalStore;
  readonly turns: Turns;
  readonly sessions: LazySessions;
  /** Loaded when it is first called. */
  readonly prompts: () => Promise<Prompts>;
  /** What the user's own configuration says now; what cannot be used of it is logged, each fault once. */
  readonly readUserConfig: () => Promise<UserConfig>;
  /** Logs what was wrong before a client could read the log. */
  readonly warnOfStart: () => void;
  readonly headersFor: RequestSecrets['headersFor'];
  /** Called when the list of models of this server has changed. */
  readonly noteModels: (runner: Runner) => void;
  /** The configuration is known: the secrets are read. */
  start(): void;
}

/** `closed` is aborted when the client is gone. */
export function createCore(options: CoreOptions, closed: AbortSignal): Core {
  const { settings: usual, auth, problems: unusable } = options.user.atStart;
  const { host, problem } = readHost(options.host);
  const configuration = createConfiguration(host, usual);
  const settings = () => configuration.current;
  const secrets = createSecretStore();
  const { redact } = secrets;
  const log = createLog({ level: () => settings().logLevel, redact });
  const reading = createRequestSecrets({
    store: secrets,
    userFile: options.user,
    log,
    read: (url) => options.readSecrets({ store: secrets, url, auth, log }),
  });
  const { headersFor, runnerHeadersFor, whyWithheld } = reading;
  const { engine, started, keepAsSet } = createStarted(options.engine, {
    isKept: () => settings().engine.keepRunning === true,
    isHostNamed: () => settings().isHostNamed,
    keepAlive: () => durationSeconds(settings().keepAlive),
    setSecret: secrets.set,
  });
  const servers = createServers({
    settings: () => ({ ...settings(), servers: started?.inPlace(settings().servers) ?? settings().servers }),
    headersFor: runnerHeadersFor,
    whyWithheld,
    redact,
    ...(started && { onDidLook: started.looked }),
  });
  const status = createStatus({ servers, whyWithheld, closed });
  const knowledge = new ModelCapabilities();
  const toolSupport = createToolSupport();
  const toolRefusals = createToolRefusals({ toolSupport, knowledge });
  const models = new Models(knowledge, options.now);
  const places = new ModelPlaces({ servers, models, now: options.now });
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
    settings,
    now,
    random,
    closed,
    ...(folder === undefined ? {} : { folder }),
    redact: (value) => redactMessage(value, secrets.redaction),
    userSettings: async () => (await readUserConfig()).sessions,
    secretsAreRead: () => headersFor(servers.server().url),
  });
  const findPrivacy = createFindPrivacy(() => settings().exclude, now);
  const noteModels = (runner: Runner) => {
    models.forgetList(runner);
    modelChanges.note();
  };
  const turns = createTurns({
    configuration,
    findPrivacy,
    knowledge,
    log,
    models,
    noteModels,
    places,
    random,
    secrets,
    sessions,
    toolSupport,
  });

  servers.onDidAnswer(status.answered);
  status.onDidReturn(modelChanges.note);
  knowledge.onDidLoad(modelChanges.note);
  knowledge.onDidShowTemplate(({ model, template }) => {
    const marks = unknownMarks(template).join(', ');
    if (marks === '') return;
    log.warn(
      `${model} may mark its tool calls with ${marks}, which Runner does not know: its server must read them.`,
    );
  });
  models.onDidFindChange(modelChanges.note);
  // A runner that refused requests may accept them now, and may list other models.
  reading.onDidChange(() => {
    modelChanges.note();
    status.check(servers.server(), closed).catch((error) => log.debug(`The check ended: ${error}`));
  });

  let prompts: Promise<Prompts> | undefined;
  const loadPrompts = async () =>
    (await import('../prompts/prompts.ts')).createPrompts({
      userFolder: join(dirname(options.user.path), 'prompts'),
      ...(options.promptAnswersFolder === undefined ? {} : { answersFolder: options.promptAnswersFolder }),
      isTrusted: () => settings().trusted,
    });
  return {
    configuration,
    secrets,
    log,
    servers,
    ...(engine && { engine }),
    forgetStarted: () => started?.forget(),
    async followSettings() {
      if (knowledge.configure(settings().modelCapabilities)) modelChanges.note();
      await keepAsSet?.();
    },
    status,
    knowledge,
    models,
    places,
    chatModels: createChatModels({
      models,
      servers,
      places,
      settings,
      choices,
      isRemote: (server, model) => knowledge.isRemote(server, model),
    }),
    modelChanges,
    toolRefusals,
    turns,
    findPrivacy,
    sessions,
    prompts() {
      prompts ??= loadPrompts();
      return prompts;
    },
    readUserConfig,
    warnOfStart() {
      if (problem !== undefined) log.warn(problem);
      warnOfConfiguration(unusable);
    },
    headersFor,
    noteModels,
    start() {
      knowledge.configure(settings().modelCapabilities);
      reading.start(servers.server().url);
    },
  };
}

interface Started {
  readonly engine?: Lazy<Engine>;
  readonly started?: StartedRunner;
  readonly keepAsSet?: () => Promise<void>;
}

/** The part that starts runners is loaded when something was started, or is to be. */
function createStarted(
  options: CoreOptions['engine'],
  {
    isKept,
    keepAlive,
    ...rest
  }: Pick<EngineOptions, 'isKept' | 'keepAlive'> & Pick<StartedRunnerOptions, 'isHostNamed' | 'setSecret'>,
): Started {
  if (!options) return {};
  let made: Engine | undefined;
  const engine = lazily(async () => {
    made = (await import('../engine/engine.ts')).createEngine({ ...options, isKept, keepAlive });
    return made;
  });
  const started = createStartedRunner({ engine, state: options.state, ...rest });
  return { engine, started, keepAsSet: async () => made?.keepAsSet() };
}

interface ToolServerContext {
  readonly platform: NodeJS.Platform;
  readonly env: NodeJS.ProcessEnv;
  readonly now: () => number;
  readonly version: string;
}

/** What every set of tool servers needs, whoever its client is. */
export function toolServerOptions(
  { readUserConfig, secrets, headersFor, log }: Core,
  { platform, env, now, version }: ToolServerContext,
  {
    userFile,
    sessionsFolder,
  }: { readonly userFile: { readonly path: string }; readonly sessionsFolder: string | undefined },
): Omit<McpServersOptions, 'settings' | 'openStores' | 'builtin' | 'elicitModes'> {
  const userFolder = dirname(userFile.path);
  return {
    readUserConfig,
    secrets,
    headersFor,
    log,
    platform,
    env,
    now,
    version,
    userFolder,
    sessionsFolder,
  };
}
