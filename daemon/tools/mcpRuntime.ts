import { join } from 'node:path';
import { createRedaction } from '../../protocol/base/redaction.ts';
import { stateFolder } from '../../protocol/base/userFolders.ts';
import { createProcessGroups } from '../base/processGroups.ts';
import { type ApprovalStore, createApprovals, createKeptApprovals, type KeptApprovals } from './approvals.ts';
import { type ArgumentsCheck, createArgumentsCheck } from './argumentsCheck.ts';
import { type BuiltinContext, createBuiltinServer } from './builtin/builtinServer.ts';
import { createEditorStore } from './builtin/editorStore.ts';
import { diskStore } from './builtin/fileStore.ts';
import { McpServer, type McpServerOptions } from './mcpServer.ts';
import { createAccessTokens } from './oauth/accessTokens.ts';
import { createLoginStore, type LoginStore } from './oauth/loginStore.ts';
import { createLogins, type Logins } from './oauth/logins.ts';
import type { BuiltinEntry } from './serverEntry.ts';
import type { StartableEntry } from './serverTransport.ts';
import type { ToolServer } from './toolServer.ts';

/** What is loaded when a server is first needed: everything that speaks MCP, and what its servers share. */
export interface McpRuntime {
  /** `root` is the workspace's, in which the server starts if its entry names no folder. */
  createMcpServer(entry: StartableEntry, root: string | undefined): ToolServer;
  createBuiltinServer(entry: BuiltinEntry, context: BuiltinContext): ToolServer;
  readonly logins: Logins;
  readonly approvals: ApprovalStore;
  readonly checkArguments: ArgumentsCheck;
  /** Called once all servers have ended. */
  close(): Promise<void>;
}

export interface McpRuntimeOptions extends Omit<McpServerOptions, 'entry' | 'groups' | 'root' | 'tokens'> {
  /** A folder of the user's alone. */
  readonly userFolder: string;
  /** Removes a secret from every message from now on. */
  readonly hide: (secret: string) => void;
  /** Absent: the runtime opens its own. */
  readonly stores?: ToolStores | undefined;
}

export function createMcpRuntime(options: McpRuntimeOptions): McpRuntime {
  const { env, platform, log, hide, now, onDidChange } = options;
  const groups = createProcessGroups({ platform, env });
  const stores = options.stores ?? openToolStores(options);
  const { logins: store } = stores;
  const tokens = createAccessTokens({ store, hide, warn: log.warn, now });
  return {
    createMcpServer: (entry, root) =>
      new McpServer({
        ...options,
        entry,
        root,
        groups,
        tokens,
        redact: createEntryRedaction(entry, options.redact),
      }),
    createBuiltinServer(entry, { editorFiles, ...context }) {
      const store = editorFiles ? createEditorStore(editorFiles, diskStore) : diskStore;
      return createBuiltinServer({ ...context, store, entry, env, platform });
    },
    logins: createLogins({ store, hide, now, onDidChange }),
    approvals: createApprovals(stores.approvals),
    checkArguments: createArgumentsCheck(),
    async close() {
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

/** What the tools keep on the disk. A process has one, because two would both believe that they hold the lock. */
export interface ToolStores {
  readonly logins: LoginStore;
  readonly approvals: KeptApprovals;
  close(): Promise<void>;
}

export function openToolStores({
  userFolder,
  env,
  platform,
}: Pick<McpRuntimeOptions, 'env' | 'platform' | 'userFolder'>): ToolStores {
  const logins = createLoginStore(join(stateFolder(env, platform), 'logins'));
  const approvals = createKeptApprovals(join(userFolder, 'approvals.json'));
  return {
    logins,
    approvals,
    async close() {
      await Promise.all([logins.close(), approvals.close()]);
    },
  };
}
