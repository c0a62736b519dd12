import { dirname, join } from 'node:path';
import { durationSeconds } from '../base/duration.ts';
import { createFindPrivacy } from '../base/filePrivacy.ts';
import { lazily } from '../base/lazily.ts';
import { createLog } from '../base/log.ts';
import { unknownMarks } from '../chat/toolUtilities.ts';
import { ConfigurationStore, readHost } from '../config/configuration.ts';
import { redactMessage } from '../config/messageRedaction.ts';
import type { SecretSources } from '../config/secretSources.ts';
import { createRequestSecrets, createSecretStore } from '../config/secrets.ts';
import type { UserFile } from '../config/userFile.ts';
import type { Engine, EngineOptions } from '../engine/engine.ts';
import { StartedRunner, type StartedRunnerOptions } from '../engine/startedRunner.ts';
import { ChatModelChoices, ChatModels } from '../models/chatModel.ts';
import { ModelCapabilities } from '../models/modelCapabilities.ts';
import { ModelPlaces } from '../models/modelPlaces.ts';
import { createModelChanges, Models } from '../models/models.ts';
import { ToolSupport } from '../models/toolSupport.ts';
import type { Prompts } from '../prompts/prompts.ts';
import type { Runner } from '../runner/runner.ts';
import { Servers } from '../runner/servers.ts';
import { createLazySessions } from '../sessions/recordTurns.ts';
import { StatusMonitor } from '../status/status.ts';
import { createTurns } from './turns.ts';

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

export type Core = ReturnType<typeof createCore>;

/**
 * Everything about the runners, independent of any connection. What its parts report without being asked is an event;
 * each adapter sends it in the form of its protocol. `closed` is aborted when the client is gone.
 */
export function createCore(options: CoreOptions, closed: AbortSignal) {
  const access = createAccess(options, closed);
  const { configuration, headersFor, keepAsSet, readSecrets, readUserConfig, secrets, servers } = access;
  const models = createModels(access, options, closed);
  const { knowledge, modelChanges } = models;
  const { sessionsFolder: folder, now, random } = options;
  const settings = () => configuration.current;
  const sessionsOptions: Parameters<typeof createLazySessions>[0] = {
    ...{ settings, now, random, closed },
    ...(folder === undefined ? {} : { folder }),
    redact: (value) => redactMessage(value, secrets.redaction),
    secretsAreRead: () => headersFor(servers.server().url),
  };
  const sessions = createLazySessions(sessionsOptions, async () => (await readUserConfig()).sessions);
  const findPrivacy = createFindPrivacy(() => settings().exclude, now);
  let prompts: Promise<Prompts> | undefined;
  return {
    ...access,
    ...models,
    findPrivacy,
    sessions,
    turns: createTurns({ ...access, ...models, findPrivacy, random, sessions }),
    /** Loaded when it is first called. */
    prompts() {
      prompts ??= loadPrompts(options, settings);
      return prompts;
    },
    /** The settings have changed, which say what models can do, and how long what was started is kept. */
    async followSettings() {
      if (knowledge.configure(settings().modelCapabilities)) modelChanges.note();
      await keepAsSet?.();
    },
    /** The configuration is known: the secrets are read. */
    start() {
      knowledge.configure(settings().modelCapabilities);
      readSecrets(servers.server().url);
    },
  };
}

/** The settings, the secrets and the log, and the runners that are reached with them. */
function createAccess(options: CoreOptions, closed: AbortSignal) {
  const { settings: usual, auth, problems: unusable } = options.user.atStart;
  const { host, problem } = readHost(options.host);
  const configuration = new ConfigurationStore(host, usual);
  const settings = () => configuration.current;
  const secrets = createSecretStore();
  const { redact } = secrets;
  const log = createLog(() => settings().logLevel, redact);
  const reading = createRequestSecrets({
    store: secrets,
    userFile: options.user,
    log,
    read: (url) => options.readSecrets({ store: secrets, url, auth, log }),
  });
  const { headersFor, runnerHeadersFor, whyWithheld, onDidChange: onDidChangeSecrets } = reading;
  const { engine, started, keepAsSet } = createStarted(options.engine, {
    isKept: () => settings().engine.keepRunning === true,
    isHostNamed: () => settings().isHostNamed,
    keepAlive: () => durationSeconds(settings().keepAlive),
    setSecret: secrets.set,
  });
  const servers = new Servers({
    settings: () => ({ ...settings(), servers: started?.inPlace(settings().servers) ?? settings().servers }),
    headersFor: runnerHeadersFor,
    whyWithheld,
    redact,
    ...(started && { onDidLook: (server, isReached) => started.looked(server, isReached) }),
  });
  const status = new StatusMonitor(servers, whyWithheld, closed);
  servers.onDidAnswer((server) => status.answered(server));
  const warnOfConfiguration = (faults: readonly string[]) => {
    for (const fault of faults) log.warn(fault, { code: 'configuration' });
  };
  return {
    ...{ configuration, secrets, log, servers, status, headersFor, onDidChangeSecrets, keepAsSet },
    /** What Runner can start itself. */
    engine,
    readSecrets: reading.start,
    /** The usual address counts again, until nothing answers there. */
    forgetStarted: () => started?.forget(),
    /** What the user's own configuration says now; what cannot be used of it is logged, each fault once. */
    async readUserConfig() {
      const config = await options.user.read();
      warnOfConfiguration(config.problems);
      return config;
    },
    /** Logs what was wrong before a client could read the log. */
    warnOfStart() {
      if (problem !== undefined) log.warn(problem);
      warnOfConfiguration(unusable);
    },
  };
}

/** What is known of the models of the runners. */
function createModels(
  { configuration, log, onDidChangeSecrets, servers, status }: ReturnType<typeof createAccess>,
  { chatModelFile, now }: CoreOptions,
  closed: AbortSignal,
) {
  const knowledge = new ModelCapabilities();
  const toolSupport = new ToolSupport(knowledge);
  const models = new Models(knowledge, now);
  const places = new ModelPlaces(servers, models, now);
  const modelChanges = createModelChanges(closed);
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
  onDidChangeSecrets(() => {
    modelChanges.note();
    status.check(servers.server(), closed).catch((error) => log.debug(`The check ended: ${error}`));
  });
  return {
    ...{ knowledge, models, modelChanges, places, toolSupport },
    chatModels: new ChatModels({
      ...{ models, servers, places },
      settings: () => configuration.current,
      choices: new ChatModelChoices(chatModelFile, log),
      isRemote: (server, model) => knowledge.isRemote(server, model),
    }),
    /** Called when the list of models of this server has changed. */
    noteModels(runner: Runner) {
      models.forgetList(runner);
      modelChanges.note();
    },
  };
}

async function loadPrompts(
  { promptAnswersFolder, user }: CoreOptions,
  settings: () => { readonly trusted: boolean },
): Promise<Prompts> {
  const { Prompts } = await import('../prompts/prompts.ts');
  return new Prompts({
    userFolder: join(dirname(user.path), 'prompts'),
    ...(promptAnswersFolder === undefined ? {} : { answersFolder: promptAnswersFolder }),
    isTrusted: () => settings().trusted,
  });
}

/** The part that starts runners is loaded when something was started, or is to be. */
function createStarted(
  options: CoreOptions['engine'],
  {
    isKept,
    keepAlive,
    ...rest
  }: Pick<EngineOptions, 'isKept' | 'keepAlive'> & Pick<StartedRunnerOptions, 'isHostNamed' | 'setSecret'>,
) {
  if (!options) return {};
  let made: Engine | undefined;
  const engine = lazily(async () => {
    const { Engine } = await import('../engine/engine.ts');
    made = new Engine({ ...options, isKept, keepAlive });
    return made;
  });
  const started = new StartedRunner({ engine, state: options.state, ...rest });
  return { engine, started, keepAsSet: async () => made?.keepAsSet() };
}
