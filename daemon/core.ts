import type { LogLevel } from '../protocol/initialize.ts';
import type { Status } from '../protocol/status.ts';
import type { ToolRefusal } from '../protocol/tools.ts';
import { type Chat, createChat } from './chat/chat.ts';
import { createTokenEstimate } from './chat/tokenEstimate.ts';
import { createToolCallId } from './chat/toolUtilities.ts';
import { type ConfigurationStore, createConfiguration } from './config/configuration.ts';
import { createSecretStore, type SecretStore } from './config/secrets.ts';
import { createLog, type Log } from './log.ts';
import { createModelKnowledge, type ModelKnowledge } from './models/knowledge.ts';
import { createModelChanges } from './models/modelChanges.ts';
import { createModels, type Models } from './models/models.ts';
import { createToolSupport } from './models/toolSupport.ts';
import { parseAddress } from './runner/address.ts';
import type { RunnerClient } from './runner/client.ts';
import { createServers, type Servers } from './runner/servers.ts';
import { createStatus, type StatusMonitor } from './status/status.ts';

export interface CoreOptions {
  /** The address of the runner where the editor names none; `OLLAMA_HOST`, or the practice runner's. */
  readonly host?: string;
  /** Reads the secrets from wherever they come, once the address is known; requests wait until it settles. */
  readonly readSecrets: (store: SecretStore, url: string, log: Log) => Promise<void>;
  readonly now: () => number;
  readonly random: () => number;
}

/** What the core tells of its own accord; each adapter says it in the words of its protocol. */
export interface CoreEvents {
  /** Without secrets, and no less severe than the configuration asks. */
  readonly onLog: (level: LogLevel, message: string) => void;
  readonly onDidChangeStatus: (status: Status) => void;
  readonly onDidChangeModels: () => void;
  /** All models that refuse tools, once one more does or one does no longer. */
  readonly onDidRefuseTools: (refusals: readonly ToolRefusal[]) => void;
}

/** All that is true about the runners, over no connection in particular. */
export interface Core {
  readonly configuration: ConfigurationStore;
  readonly secrets: SecretStore;
  readonly log: Log;
  readonly servers: Servers;
  readonly status: StatusMonitor;
  readonly knowledge: ModelKnowledge;
  readonly models: Models;
  readonly chat: Chat;
  /** What was wrong before anybody could be told. */
  readonly problem?: string;
  readonly headersFor: (url: string) => Promise<Readonly<Record<string, string>>>;
  /** The models of this server are others now. */
  readonly noteModels: (client: RunnerClient) => void;
  /** What an earlier daemon of the session learnt of tools. */
  readonly restore: (refusals: readonly ToolRefusal[]) => void;
  /** The configuration is known: the secrets are read. */
  start(): void;
}

/** `closed` is aborted when nobody is there to be told any more. */
export function createCore(options: CoreOptions, events: CoreEvents, closed: AbortSignal): Core {
  // Who was refused may be let in now, and may see other models.
  const secrets = createSecretStore(() => {
    if (!isBegun) return;
    tellChanges();
    status.check(servers.client(), closed).catch((error) => log.debug(`The check ended: ${error}`));
  });
  /** The secrets that were there at the start have been read. */
  let isBegun = false;
  let secretsRead = Promise.resolve();
  const { host, problem } = readHost(options.host);
  const configuration = createConfiguration(host);
  const log = createLog({
    level: () => configuration.current.logLevel,
    redact: secrets.redact,
    write: events.onLog,
  });
  const headersFor = async (url: string) => {
    await secretsRead;
    isBegun = true;
    return secrets.headersFor(url);
  };
  const servers = createServers({
    settings: () => configuration.current,
    headersFor,
    onAnswer: (server) => status.answered(server),
    redact: secrets.redact,
  });
  const status = createStatus({
    client: () => servers.client(),
    onDidChange: events.onDidChangeStatus,
    onDidReturn: () => tellChanges(),
    closed,
  });
  const toolSupport = createToolSupport((server, model, works) => {
    knowledge.observe(server, model, { capability: 'tools', value: works });
    if (!works) tellRefusals();
  });
  const tellRefusals = () =>
    events.onDidRefuseTools(
      toolSupport.refused.map(({ server, model }) => {
        const digest = knowledge.digest(server, model);
        return { url: server.url, model, ...(digest === undefined ? {} : { digest }) };
      }),
    );
  const tellChanges = createModelChanges(events.onDidChangeModels, closed);
  const knowledge = createModelKnowledge({
    onReplaced(id) {
      if (toolSupport.forget(id)) tellRefusals();
    },
    onDidLoad: tellChanges,
  });
  const models = createModels(knowledge, options.now);
  const chat = createChat({
    knowledge,
    toolSupport,
    estimate: createTokenEstimate(),
    learn: models.learn,
    defaults: () => configuration.current,
    createId: () => createToolCallId(options.random),
  });
  return {
    ...{ configuration, secrets, log, servers, status, knowledge, models, chat, headersFor },
    ...(problem === undefined ? {} : { problem }),
    noteModels(client) {
      models.forgetList(client);
      tellChanges();
    },
    restore(refusals) {
      for (const { url, model, digest } of refusals) {
        const server = { name: url, url };
        if (digest !== undefined) knowledge.learnDigest(server, model, digest);
        toolSupport.refuse(server, model);
        knowledge.observe(server, model, { capability: 'tools', value: false });
      }
    },
    start() {
      secretsRead = options.readSecrets(secrets, servers.client().server.url, log);
    },
  };
}

/** A wrong address in the environment is told and left out; it must not keep the daemon from starting. */
function readHost(host: string | undefined): { readonly host?: string; readonly problem?: string } {
  try {
    return host === undefined ? {} : { host: parseAddress(host) };
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    return { problem: `OLLAMA_HOST is left out: ${reason}. The default address is used.` };
  }
}
