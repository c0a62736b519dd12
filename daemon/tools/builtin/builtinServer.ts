import { homedir } from 'node:os';
import type * as z from 'zod/mini';
import { messageOf } from '../../../protocol/base/errorText.ts';
import type { ToolCapabilities } from '../../../protocol/messages/tools.ts';
import type { FindPrivacy } from '../../base/filePrivacy.ts';
import type { CallContext, CallOutcome, PreparedCall } from '../../chat/daemonTools.ts';
import type { CallOptions, ToolRequest } from '../mcpSession.ts';
import type { BuiltinEntry } from '../serverEntry.ts';
import { failedOutcome } from '../toolResult.ts';
import type { ServerState, ToolServer } from '../toolServer.ts';
import {
  builtinInstructions,
  builtinTools,
  editFileSchema,
  listFilesSchema,
  readFileSchema,
  searchFilesSchema,
  writeFileSchema,
} from './builtinTools.ts';
import { type ChecksContext, createChecks, type PrepareCheck, runCheckTool } from './checks.ts';
import { createEditHistory } from './editHistory.ts';
import { createEditJournal } from './editJournal.ts';
import type { EditorFiles } from './editorStore.ts';
import { FileChanges, type PreparedChange } from './fileChanges.ts';
import { createFileReads, type FileReading } from './fileReads.ts';
import type { FileStore, OpenText } from './fileStore.ts';
import { adviceOnTool, editsIn } from './forgivenCall.ts';
import { createKnownFiles } from './knownFiles.ts';
import { createRulesFiles, type RulesSettings } from './rulesFiles.ts';
import { FileProblemError, openWorkspace, type Workspace } from './workspace.ts';

/** What the built-in tools know of the client and its user. */
export interface BuiltinContext {
  readonly findPrivacy: FindPrivacy;
  /** The documents that the editor has open, as they are on its screen. */
  readonly openDocuments: () => readonly OpenText[];
  /** Whether the client shows the difference that an edit makes, with its question. */
  readonly showsDiffs: () => boolean;
  /** What the client can answer to an edit besides yes and no. */
  readonly decisions?: () => ToolCapabilities['decisions'];
  /** The editor's own file system. Absent: files are read and written on the disk. */
  readonly editorFiles?: () => EditorFiles | undefined;
  /** Absent: files with rules do not count. */
  readonly settings?: () => RulesSettings;
}

export interface BuiltinServerOptions extends Omit<BuiltinContext, 'editorFiles'> {
  readonly entry: BuiltinEntry;
  /** Absent: there are none. */
  readonly checks?: ChecksContext;
  readonly store: FileStore;
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
  const { entry, showsDiffs, sessionsFolder } = options;
  const workspace = workspaceOf(options);
  const journal = sessionsFolder === undefined ? undefined : createEditJournal(sessionsFolder);
  const rules = createRulesFiles({ ...options, workspace });
  const parts = { ...options, workspace, journal, known: createKnownFiles(), rules };
  const [reads, changes] = [createFileReads(parts), new FileChanges(parts)];
  const checks = options.checks && createChecks({ ...options.checks, ...parts });

  const lookUp = (
    { name, arguments: given, bounds = widest }: ToolRequest,
    signal: AbortSignal,
  ): Promise<FileReading | PreparedChange> => {
    const parsed = <T extends z.ZodMiniType>(schema: T) => schema.parse(given) as z.output<T>;
    if (name === 'list_files') return reads.list(parsed(listFilesSchema), bounds);
    if (name === 'search_files') return reads.search(parsed(searchFilesSchema), bounds);
    if (name === 'edit_file')
      return changes.edit(
        editsIn(given).map((one) => editFileSchema.parse(one)),
        bounds,
        signal,
      );
    if (name === 'write_file') return changes.write(parsed(writeFileSchema), bounds, signal);
    return reads.read(parsed(readFileSchema), bounds);
  };

  const prepare = (request: ToolRequest, signal: AbortSignal): Promise<PreparedCall> =>
    withProblems(signal, async () => {
      const found = await lookUp(request, signal);
      if ('diff' in found) return { ...found, call: async () => succeeded(await found.write()) };
      const { given, run } = found;
      return { given, end: () => undefined, call: async (calling) => succeeded(await run(calling)) };
    });

  const prepareCheck: PrepareCheck = (check, path, { context = widest, signal }) =>
    withProblems(signal, async () => {
      if (checks && check) return checks.prepare(check, path, context);
      throw new FileProblemError('There is no such check.');
    });

  return {
    async state(): Promise<ServerState> {
      try {
        const { folders } = await workspace();
        const configured = (await checks?.configured()) ?? [];
        const running = configured.length === 0 ? [] : [runCheckTool(configured, prepareCheck)];
        const tools = [...builtinTools(folders, showsDiffs()), ...running];
        const names = configured.map(({ name }) => name);
        const adviceOn = (name: string) => adviceOnTool(name, names);
        const instructions: ServerState['instructions'] = (nameOf) => builtinInstructions(folders, nameOf);
        return { entry, server: this, state: 'ready', tools, instructions, adviceOn };
      } catch (error) {
        return { entry, state: 'failed', message: messageOf(error), tools: [] };
      }
    },
    prepare,
    ...(journal && { edits: createEditHistory({ ...parts, journal }) }),
    ...(checks && { checks: checks.requests }),
    rules: rules.read,
    async call(request: ToolRequest, { signal }: CallOptions) {
      const prepared = await prepare(request, signal);
      return prepared.call(signal).finally(prepared.end);
    },
    close: async () => undefined,
  };
}

function workspaceOf(options: BuiltinServerOptions): () => Promise<Workspace> {
  const { entry, env } = options;
  let opened: Promise<Workspace> | undefined;
  return () => {
    const homes = [env['HOME'], env['USERPROFILE'], homedir()].filter((home) => home !== undefined);
    opened ??= openWorkspace({ ...options, folders: entry.folders, homes });
    // A folder may be there the next time.
    opened.catch(() => {
      opened = undefined;
    });
    return opened;
  };
}

function succeeded(content: string): CallOutcome {
  return { content, isError: false };
}

/** A call that rejects for no problem with a file: the model reads it. */
function withProblems(signal: AbortSignal, look: () => Promise<PreparedCall>): Promise<PreparedCall> {
  const prepare = async (): Promise<PreparedCall> => {
    const prepared = await look();
    const call: PreparedCall['call'] = (calling, listener) =>
      orProblem(calling, () => prepared.call(calling, listener), failedOutcome);
    return { ...prepared, call };
  };
  return orProblem(signal, prepare, (problem) => ({
    ...{ problem, end: () => undefined },
    call: async () => failedOutcome(problem),
  }));
}

/** What the work gives, or else what stands for the problem that it has with a file. */
async function orProblem<T>(
  signal: AbortSignal,
  work: () => Promise<T>,
  otherwise: (problem: string) => T,
): Promise<T> {
  try {
    return await work();
  } catch (error) {
    signal.throwIfAborted();
    if (!(error instanceof FileProblemError)) throw error;
    return otherwise(error.message);
  }
}
