import { homedir } from 'node:os';
import { messageOf } from '../../../protocol/base/text.ts';
import type { ToolCapabilities } from '../../../protocol/messages/tools.ts';
import type { FindPrivacy } from '../../base/filePrivacy.ts';
import type { CallContext, PreparedCall } from '../../chat/daemonTools.ts';
import type { ToolRequest } from '../mcpSession.ts';
import type { BuiltinEntry } from '../serverEntry.ts';
import type { ServerState, ToolServer } from '../toolServer.ts';
import { builtinInstructions, builtinTools } from './builtinTools.ts';
import { CheckRunner, type ChecksContext } from './checks.ts';
import { createCheckTool } from './checkTool.ts';
import { EditHistory } from './editHistory.ts';
import { FileChanges, type FileTools, prepareRead } from './fileCalls.ts';
import { withProblems } from './fileProblem.ts';
import { FileStore, type OpenTexts } from './fileStore.ts';
import { adviceOnTool } from './forgivenCall.ts';
import { ReadRecord } from './readLines.ts';
import { createRulesFiles, type RulesSettings } from './rulesFiles.ts';
import { Workspace } from './workspace.ts';

/** What the built-in tools know of the client and its user. */
export interface BuiltinContext extends OpenTexts {
  readonly findPrivacy: FindPrivacy;
  /** Whether the client shows the difference that an edit makes, with its question. */
  readonly showsDiffs: () => boolean;
  /** What the client can answer to an edit besides yes and no. */
  readonly decisions?: () => ToolCapabilities['decisions'];
  /** Absent: files with rules do not count. */
  readonly settings?: () => RulesSettings;
}

export interface BuiltinServerOptions extends BuiltinContext {
  readonly entry: BuiltinEntry;
  /** Absent: there are none. */
  readonly checks?: ChecksContext;
  readonly env: NodeJS.ProcessEnv;
  readonly platform: NodeJS.Platform;
  readonly now: () => number;
  /** Where conversations are kept; absent if none is. */
  readonly sessionsFolder?: string | undefined;
  /** The folder of the user's own configuration. */
  readonly userFolder?: string | undefined;
}

/** What a result may have if nobody knows the window of the model. */
const widest: CallContext = { characters: 32_000, replaceable: 32_000 };

/** The tools for files of the workspace, as a tool server that runs in the daemon. */
export function createBuiltinServer(options: BuiltinServerOptions): ToolServer {
  const { entry, env, showsDiffs, sessionsFolder } = options;
  const homes = [env['HOME'], env['USERPROFILE'], homedir()].filter((home) => home !== undefined);
  const workspace = new Workspace({ ...options, folders: entry.folders, homes });
  const store = new FileStore(options);
  const edits =
    sessionsFolder === undefined ? undefined : new EditHistory(sessionsFolder, { workspace, store });
  const rules = createRulesFiles({ ...options, workspace });
  const tools: FileTools = { workspace, store, rules, edits, known: new ReadRecord() };
  const changes = new FileChanges(tools);
  const checks = options.checks && new CheckRunner({ ...options, ...options.checks, workspace });

  const prepare = (
    { name: tool, arguments: given, bounds: context = widest }: ToolRequest,
    signal: AbortSignal,
  ): Promise<PreparedCall> => {
    const call = { tool, given, context };
    const isChange = tool === 'edit_file' || tool === 'write_file';
    return withProblems(() => (isChange ? changes.prepare(call, signal) : prepareRead(call, tools)), signal);
  };

  return {
    async state(): Promise<ServerState> {
      try {
        const folders = await workspace.folders();
        const configured = (await checks?.configured()) ?? [];
        const names = configured.map(({ name }) => name);
        const listed = [...builtinTools(folders, showsDiffs())];
        if (checks && configured.length > 0) listed.push(createCheckTool(configured, checks));
        const instructions: ServerState['instructions'] = (nameOf) => builtinInstructions(folders, nameOf);
        const adviceOn = (name: string) => adviceOnTool(name, names);
        return { entry, server: this, state: 'ready', tools: listed, instructions, adviceOn };
      } catch (error) {
        return { entry, state: 'failed', message: messageOf(error), tools: [] };
      }
    },
    prepare,
    ...(edits && { edits }),
    ...(checks && { checks }),
    rules: rules.read,
    async call(request, { signal }) {
      const prepared = await prepare(request, signal);
      return prepared.call(signal).finally(prepared.end);
    },
    close: async () => undefined,
  };
}
