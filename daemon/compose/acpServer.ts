import { setMaxListeners } from 'node:events';
import { dirname } from 'node:path';
import type { Readable, Writable } from 'node:stream';
import { withoutUndefined } from '../../protocol/base/withoutUndefined.ts';
import type { AgentConnection, ConnectionOptions } from '../acp/acpConnection.ts';
import { type Agent, createAgent } from '../acp/agent.ts';
import type { HandedTools, RunningTools } from '../acp/sessionTools.ts';
import { lazily } from '../base/lazily.ts';
import { createToolCallId } from '../chat/toolUtilities.ts';
import { redactMessage } from '../config/outgoing.ts';
import { openUserFile, type UserFileOptions } from '../config/userFile.ts';
import { toResponseError } from '../rpc/endpoint.ts';
import { createTrace } from '../rpc/trace.ts';
import { createTools, type ToolsOptions } from '../tools/tools.ts';
import { type Core, type CoreOptions, createCore } from './core.ts';

export interface AcpOptions extends Omit<CoreOptions, 'user'> {
  readonly userFile: UserFileOptions;
  readonly input: Readable;
  readonly output: Writable;
  readonly version: string;
  readonly platform: NodeJS.Platform;
  readonly env: NodeJS.ProcessEnv;
  /** The model that answers where the editor chooses none. */
  readonly model?: string;
  /** A file for all traffic, without secrets. */
  readonly traceFile?: string;
  /** Where the log goes, line by line: the protocol has no message for it. */
  readonly writeLog: (line: string) => void;
}

export interface AcpDaemon {
  readonly signal: AbortSignal;
  /** Takes secrets out of a text that goes another way than the connection. */
  readonly redact: (text: string) => string;
  close(): Promise<void>;
}

/** The daemon as an agent of the Agent Client Protocol. It lives until its input ends, which `signal` tells. */
export async function startAcp(options: AcpOptions): Promise<AcpDaemon> {
  const { connectAgent } = await import('../acp/acpConnection.ts');
  const closed = new AbortController();
  // Every request that is under way listens to it.
  setMaxListeners(0, closed.signal);
  const user = await openUserFile(options.userFile);
  const core = createCore({ ...options, user }, closed.signal);
  // All sessions write what they keep one after another.
  const stores = lazily(async () =>
    (await import('../tools/toolStores.ts')).openToolStores({
      ...options,
      userFolder: dirname(options.userFile.path),
    }),
  );
  const agent = createAgent({
    ...{ core, version: options.version },
    startTools: (handed) => startTools({ ...options, openStores: stores.get }, core, handed),
    createId: () => createToolCallId(options.random),
  });
  const connection = connectAgent(wiringOf(options, core, agent));
  subscribe(core, { agent, connection, writeLog: options.writeLog, closed: closed.signal });

  core.configuration.start({
    logLevel: user.atStart.settings.logLevel ?? 'warn',
    ...(options.model === undefined ? {} : { chatModel: options.model }),
  });
  core.warnOfStart();
  core.start();
  const leave = () => {
    closed.abort();
    return agent.close();
  };
  connection.signal.addEventListener('abort', () => void leave(), { once: true });
  return {
    signal: connection.signal,
    redact: core.secrets.redact,
    async close() {
      connection.close();
      await Promise.all([leave(), core.sessions.close(), core.servers.close()]);
      await stores.close();
    },
  };
}

/** The servers of one session: what its editor handed over, and the user's own, which win by name. */
function startTools(
  options: AcpOptions & Required<Pick<ToolsOptions, 'openStores'>>,
  core: Core,
  { servers, cwd }: HandedTools,
): RunningTools {
  const { configuration, readUserConfig, secrets, headersFor, log } = core;
  const { platform, env, now, version, userFile, openStores } = options;
  const tools = createTools({
    settings: () => ({
      ...{
        mcpServers: servers,
        editorServers: servers,
        approvals: {},
        timeouts: configuration.current.timeouts,
      },
    }),
    ...{ readUserConfig, secrets, headersFor, log, platform, env, now, version, openStores },
    userFolder: dirname(userFile.path),
  });
  tools.start(cwd);
  return tools;
}

function wiringOf(options: AcpOptions, { secrets, log }: Core, agent: Agent): ConnectionOptions {
  const { input, output, traceFile } = options;
  return withoutUndefined({
    input,
    output,
    agent,
    toWire(method, error) {
      const { code, message, data } = toResponseError(error, { cancelled: false, method, log });
      return { code, message, data: withoutPartial(data) };
    },
    edge: (message) => redactMessage(message, secrets.redaction),
    trace: traceFile === undefined ? undefined : createTrace(traceFile, secrets.redact, options.now),
  });
}

interface Listeners {
  readonly agent: Agent;
  readonly connection: AgentConnection;
  readonly writeLog: AcpOptions['writeLog'];
  readonly closed: AbortSignal;
}

/** What the core tells of its own accord. Of the status the protocol has no message, and of refused tools a notice tells. */
function subscribe(core: Core, { agent, connection, writeLog, closed: signal }: Listeners): void {
  core.log.onDidWrite(({ level, message }) => writeLog(`runnerd: ${level}: ${message}\n`));
  core.modelChanges.onDidChange(() => {
    agent
      .modelsChanged({ update: connection.update, signal })
      .catch((error) => core.log.debug(`The models were not told: ${String(error)}`));
  });
}

/** Clients show the data of an error; what had come of the answer they have shown already. */
function withoutPartial(data: unknown): unknown {
  if (typeof data !== 'object' || data === null) return data;
  const {
    partial: _,
    messages: __,
    ...rest
  }: { readonly partial?: unknown; readonly messages?: unknown } = data;
  return rest;
}
