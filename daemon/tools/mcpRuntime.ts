import { join } from 'node:path';
import { stateFolder } from '../../protocol/base/platform/folders.ts';
import { createProcessGroups } from '../../protocol/base/platform/processGroups.ts';
import { createRedaction } from '../../protocol/base/redaction.ts';
import { createSchemaCheck } from '../base/schemaCheck.ts';
import { createApprovals, createKeptApprovals } from './approvals.ts';
import { type BuiltinContext, createBuiltinServer } from './builtin/builtinServer.ts';
import type { ChecksContext } from './builtin/checks.ts';
import { McpServer, type McpServerOptions } from './mcpServer.ts';
import { AccessTokens } from './oauth/accessTokens.ts';
import { createLoginStore } from './oauth/loginStore.ts';
import { Logins } from './oauth/logins.ts';
import type { BuiltinEntry } from './serverEntry.ts';
import type { StartableEntry } from './serverTransport.ts';
import type { ToolServer } from './toolServer.ts';

export type McpRuntime = ReturnType<typeof createMcpRuntime>;

export interface McpRuntimeOptions extends Omit<McpServerOptions, 'entry' | 'groups' | 'root' | 'tokens'> {
  /** A folder of the user's alone. */
  readonly userFolder: string;
  /** Where conversations are kept; absent if none is. */
  readonly sessionsFolder?: string | undefined;
  /** Removes a secret from every message from now on. */
  readonly hide: (secret: string) => void;
  /** Absent: the runtime opens its own. */
  readonly stores?: ToolStores | undefined;
}

/** What is loaded when a server is first needed: everything that speaks MCP, and what its servers share. */
export function createMcpRuntime(options: McpRuntimeOptions) {
  const { env, platform, log, hide, now, onDidChange, sessionsFolder, userFolder } = options;
  const groups = createProcessGroups({ platform, env });
  const stores = options.stores ?? openToolStores(options);
  const { logins: store } = stores;
  const tokens = new AccessTokens({ store, hide, warn: log.warn, now });
  return {
    /** `root` is the workspace's, in which the server starts if its entry names no folder. */
    createMcpServer: (entry: StartableEntry, root: string | undefined): ToolServer =>
      new McpServer({
        ...options,
        entry,
        root,
        groups,
        tokens,
        redact: createEntryRedaction(entry, options.redact),
      }),
    createBuiltinServer(
      entry: BuiltinEntry,
      context: BuiltinContext,
      configured: Omit<ChecksContext, 'groups' | 'kept'>,
    ): ToolServer {
      return createBuiltinServer({
        ...context,
        entry,
        env,
        platform,
        now,
        sessionsFolder,
        checks: { ...configured, kept: stores.approvals, groups },
        userFolder,
      });
    },
    logins: new Logins({ store, hide, now }, onDidChange),
    approvals: createApprovals(stores.approvals),
    checkArguments: createArgumentsCheck(),
    /** Called once all servers have ended. */
    async close(): Promise<void> {
      await Promise.all([groups.close(), options.stores ? undefined : stores.close()]);
    },
  };
}

/** Removes the values of `env`, `headers` and variables, in every form in which a server may quote them. */
function createEntryRedaction(entry: StartableEntry, redact: (text: string) => string) {
  const redaction = createRedaction();
  const given = Object.values(entry.kind === 'stdio' ? entry.env : entry.headers);
  for (const value of [...given, ...(entry.variables?.used ?? [])]) {
    redaction.add(value);
    // A token is echoed with the name of its scheme, or without.
    redaction.add(value.slice(value.lastIndexOf(' ') + 1));
    // A key of several lines is echoed line by line.
    for (const line of value.split(/\r?\n/)) redaction.add(line);
  }
  return (text: string) => redact(redaction.redact(text));
}

export type ToolStores = ReturnType<typeof openToolStores>;

/** What the tools keep on the disk. A process has one, because two would both believe that they hold the lock. */
export function openToolStores({
  userFolder,
  env,
  platform,
}: Pick<McpRuntimeOptions, 'env' | 'platform' | 'userFolder'>) {
  const logins = createLoginStore(join(stateFolder(env, platform), 'logins'));
  const approvals = createKeptApprovals(join(userFolder, 'approvals.json'));
  return {
    logins,
    approvals,
    async close(): Promise<void> {
      await Promise.all([logins.close(), approvals.close()]);
    },
  };
}

/** Of the arguments of a call as JSON, in characters. Models write far less. */
const maxArguments = 1024 * 1024;

type Fields = Readonly<Record<string, unknown>>;

/** A sentence for the model that says what is wrong with the arguments of a call; undefined if they are right. */
function createArgumentsCheck() {
  const check = createSchemaCheck();
  return (schema: Fields, given: Fields): string | undefined => {
    const size = JSON.stringify(given).length;
    if (size > maxArguments)
      return `The arguments have ${size.toLocaleString('en-US')} characters; at most 1,048,576 are sent to a tool. Make them shorter.`;
    const finding = check(schema, given, 'they');
    if (finding?.kind === 'wrong')
      return `The arguments do not match the schema of the tool: ${finding.problems}.`;
    if (finding?.kind === 'late')
      return 'The arguments could not be checked against the schema of the tool in time, so the tool was not called.';
    // A schema that cannot be read is the server's fault. The server checks the arguments itself.
    return undefined;
  };
}
