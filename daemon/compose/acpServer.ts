import { setMaxListeners } from 'node:events';
import { dirname } from 'node:path';
import type { Readable, Writable } from 'node:stream';
import { withoutUndefined } from '../../protocol/base/json.ts';
import type { AgentMode } from '../../protocol/messages/chat.ts';
import type { AcpConnectionOptions, AgentConnection } from '../acp/acpConnection.ts';
import { forAgentClient } from '../acp/advice.ts';
import { Agent } from '../acp/agent.ts';
import type { ClientTools, RunningTools } from '../acp/sessionTools.ts';
import { RunnerError } from '../base/errors.ts';
import { lazily } from '../base/lazily.ts';
import { createAgentModes } from '../chat/permissions.ts';
import { createToolCallId } from '../chat/toolUtilities.ts';
import { redactMessage } from '../config/messageRedaction.ts';
import { openUserFile, type UserFileOptions } from '../config/userFile.ts';
import { createTrace } from '../rpc/trace.ts';
import { toWireError } from '../rpc/wireError.ts';
import { HostedServers, type HostedServersOptions } from '../tools/hostedServers.ts';
import { type Core, type CoreOptions, createCore } from './core.ts';

interface AcpOptions extends Omit<CoreOptions, 'user'> {
  readonly userFile: UserFileOptions;
  readonly input: Readable;
  readonly output: Writable;
  readonly version: string;
  readonly platform: NodeJS.Platform;
  readonly env: NodeJS.ProcessEnv;
  /** The model that answers if the editor chooses none. */
  readonly model?: string;
  /** Models may use the built-in tools, whatever the user's configuration says. */
  readonly builtinTools?: boolean;
  /** The mode in which new sessions begin with them. */
  readonly mode?: AgentMode;
  /** A file for all traffic, without secrets. */
  readonly traceFile?: string;
  /** Writes one line of the log. The protocol has no message for it. */
  readonly writeLog: (line: string) => void;
}

/** The daemon as an agent of the Agent Client Protocol. When its input ends, `signal` is aborted. */
export async function startAcp(options: AcpOptions) {
  const { connectAgent } = await import('../acp/acpConnection.ts');
  const closed = new AbortController();
  // Every running request listens to it.
  setMaxListeners(0, closed.signal);
  const user = await openUserFile(options.userFile);
  const core = createCore({ ...options, user }, closed.signal);
  // Shared by all sessions, because only one may write to a file at a time.
  const stores = lazily(async () =>
    (await import('../tools/mcpRuntime.ts')).openToolStores({
      ...options,
      userFolder: dirname(options.userFile.path),
    }),
  );
  const agent = new Agent({
    core,
    version: options.version,
    mode: options.builtinTools || user.atStart.tools.builtinTools ? (options.mode ?? 'ask') : undefined,
    modes: createAgentModes(),
    startTools: (given) => startTools({ ...options, openStores: stores.get }, core, given),
    createId: () => createToolCallId(options.random),
  });
  const connection = connectAgent(connectionOptions(options, core, agent));
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
    /** Removes secrets from text that does not go over the connection. */
    redact: core.secrets.redact,
    async close(): Promise<void> {
      connection.close();
      await Promise.all([leave(), core.sessions.close(), core.servers.close(), core.engine?.close()]);
      await stores.close();
    },
  };
}

/**
 * The tool servers of one session: those that its client passed, and the user's own, which replace those of the same
 * name.
 */
function startTools(
  options: AcpOptions & Required<Pick<HostedServersOptions, 'openStores'>>,
  core: Core,
  { servers, cwd, files, elicitModes }: ClientTools,
): RunningTools {
  const tools = new HostedServers({
    settings: () => {
      const { timeouts, trusted } = core.configuration.current;
      const given = { mcpServers: servers, editorServers: servers, ownServers: {}, approvals: {} };
      return { ...given, builtinTools: options.builtinTools === true, checks: {}, trusted, timeouts };
    },
    ...{ ...core, ...options, elicitModes, userFolder: dirname(options.userFile.path) },
    builtin: {
      findPrivacy: core.findPrivacy,
      openDocuments: () => [],
      // A difference is a part of the protocol, which every client shows.
      showsDiffs: () => true,
      decisions: () => ['answer'],
      editorFiles: files,
      settings: () => core.configuration.current,
    },
  });
  tools.start(cwd, [cwd]);
  return tools;
}

function connectionOptions(options: AcpOptions, { secrets, log }: Core, agent: Agent): AcpConnectionOptions {
  const { input, output, traceFile } = options;
  return withoutUndefined({
    input,
    output,
    agent,
    toWire(method, error) {
      const { code, message, data } = toWireError(error, { cancelled: false, method, log });
      const { advice } = error instanceof RunnerError ? error.details : {};
      const said = advice === undefined ? message : forAgentClient({ message, advice });
      return { code, message: said, data: withoutPartial(data) };
    },
    redact: (message) => redactMessage(message, secrets.redaction),
    trace: traceFile === undefined ? undefined : createTrace(traceFile, secrets.redact, options.now),
  });
}

interface Listeners {
  readonly agent: Agent;
  readonly connection: AgentConnection;
  readonly writeLog: AcpOptions['writeLog'];
  readonly closed: AbortSignal;
}

/**
 * Connects the core's events. The protocol has no message for the status, and refused tools are reported by a notice.
 */
function subscribe(core: Core, { agent, connection, writeLog, closed: signal }: Listeners): void {
  core.log.onDidWrite(({ level, message }) => writeLog(`runnerd: ${level}: ${message}\n`));
  core.modelChanges.onDidChange(() => {
    agent
      .modelsChanged({ update: connection.update, signal })
      .catch((error) => core.log.debug(`The client was not notified of the models: ${String(error)}`));
  });
}

/** Clients show the data of an error, but have already shown the answer so far. */
function withoutPartial(data: unknown): unknown {
  if (typeof data !== 'object' || data === null) return data;
  const {
    partial: _,
    messages: __,
    ...rest
  }: { readonly partial?: unknown; readonly messages?: unknown } = data;
  return rest;
}
