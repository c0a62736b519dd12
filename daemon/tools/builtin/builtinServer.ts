import { realpath } from 'node:fs/promises';
import { homedir } from 'node:os';
import { orAborted } from '../../../protocol/base/abort.ts';
import { messageOf } from '../../../protocol/base/errorText.ts';
import { SerialQueue } from '../../../protocol/base/serialQueue.ts';
import { plainEnds } from '../../../protocol/base/text.ts';
import type { FileDiff } from '../../../protocol/messages/tools.ts';
import { type FindPrivacy, tryPathOf } from '../../base/filePrivacy.ts';
import type { CallOutcome, PreparedCall } from '../../chat/daemonTools.ts';
import type { CallOptions, ToolRequest } from '../mcpSession.ts';
import type { BuiltinEntry } from '../serverEntry.ts';
import { failedOutcome } from '../toolResult.ts';
import type { ServerState, ToolServer } from '../toolServer.ts';
import {
  builtinTools,
  type EditFile,
  editFileSchema,
  type ReadFile,
  readFileSchema,
} from './builtinTools.ts';
import type { EditorFiles } from './editorStore.ts';
import { createFileDiff } from './fileDiff.ts';
import { changedMeanwhile, type FileStore, type StoredText, unsaved } from './fileStore.ts';
import { readLines } from './readLines.ts';
import { applyEdits } from './textEdits.ts';
import { FileProblemError, openWorkspace, type Workspace, type WorkspaceFile } from './workspace.ts';

/** What the built-in tools know of the client and its user. */
export interface BuiltinContext {
  readonly findPrivacy: FindPrivacy;
  /** The documents that the editor has open, as they are on its screen. */
  readonly openDocuments: () => readonly OpenText[];
  /** Whether the client shows the difference that an edit makes, with its question. */
  readonly showsDiffs: () => boolean;
  /** The editor's own file system. Absent: files are read and written on the disk. */
  readonly editorFiles?: () => EditorFiles | undefined;
}

export interface OpenText {
  readonly uri: string;
  getText(): string;
}

export interface BuiltinServerOptions extends Omit<BuiltinContext, 'editorFiles'> {
  readonly entry: BuiltinEntry;
  readonly store: FileStore;
  readonly env: NodeJS.ProcessEnv;
  readonly platform: NodeJS.Platform;
}

/** A file with a longer text is not changed, because its user could not see what changes. In characters. */
const maxEdited = 1024 * 1024;

/** The tools for files of the workspace, as a tool server that runs in the daemon. */
export function createBuiltinServer(options: BuiltinServerOptions): ToolServer {
  const { entry, env, store, showsDiffs } = options;
  const takeTurn = createFileTurns();
  let opened: Promise<Workspace> | undefined;
  const workspace = () => {
    const homes = [env['HOME'], env['USERPROFILE'], homedir()].filter((home) => home !== undefined);
    opened ??= openWorkspace({ ...options, folders: entry.folders, homes });
    // A folder may be there the next time.
    opened.catch(() => {
      opened = undefined;
    });
    return opened;
  };

  const prepareRead = async ({ path, from, to }: ReadFile): Promise<PreparedCall> => {
    const file = await (await workspace()).find(path);
    return {
      end: () => undefined,
      call: (signal) =>
        outcomeOf(signal, async () => {
          const found = await sameFile(await workspace(), path, file);
          const { text } = await store.read(found, signal);
          const note = (await isUnsaved(options, found)) ? unsavedNote : '';
          return readLines(plainEnds(text), { from, to }) + note;
        }),
    };
  };

  const prepareEdit = async ({ path, edits }: EditFile, signal: AbortSignal): Promise<PreparedCall> => {
    const first = await (await workspace()).find(path);
    const end = await takeTurn(first.path, signal);
    try {
      // An edit that came first may have made it.
      const file = await (await workspace()).find(path);
      await refuseUnsaved(options, file);
      const before = file.isThere ? await store.read(file, signal) : undefined;
      const text = changed(file, before, edits);
      const diff = createFileDiff({ ...file, after: text, ...(before ? { before: before.text } : {}) });
      const write = async () => {
        const found = await sameFile(await workspace(), path, file);
        await refuseUnsaved(options, found);
        await store.write(found, { before, text }, signal);
        return `${before ? 'Changed' : 'Created'} ${file.name} (${lineCounts(diff)}).`;
      };
      return { diff, end, call: () => outcomeOf(signal, write).finally(end) };
    } catch (error) {
      end();
      throw error;
    }
  };

  const prepare = ({ name, arguments: given }: ToolRequest, signal: AbortSignal): Promise<PreparedCall> =>
    orProblem(
      signal,
      async () =>
        name === 'edit_file'
          ? prepareEdit(editFileSchema.parse(given), signal)
          : prepareRead(readFileSchema.parse(given)),
      (problem) => ({ problem, end: () => undefined, call: async () => failedOutcome(problem) }),
    );

  return {
    async state(): Promise<ServerState> {
      try {
        const { folders } = await workspace();
        return { entry, server: this, state: 'ready', tools: builtinTools(folders, showsDiffs()) };
      } catch (error) {
        return { entry, state: 'failed', message: messageOf(error), tools: [] };
      }
    },
    prepare,
    async call(request: ToolRequest, { signal }: CallOptions) {
      const prepared = await prepare(request, signal);
      return prepared.call(signal).finally(prepared.end);
    },
    close: async () => undefined,
  };
}

/** Another program may have changed what the path leads to since the user was asked. */
async function sameFile(workspace: Workspace, path: string, before: WorkspaceFile): Promise<WorkspaceFile> {
  const file = await workspace.find(path);
  if (file.path !== before.path || file.isThere !== before.isThere) throw changedMeanwhile(before.name);
  return file;
}

function changed(file: WorkspaceFile, before: StoredText | undefined, edits: EditFile['edits']): string {
  if (before) requireEditable(file, before.text);
  const text = before ? applyEdits(before.text, edits) : created(file, edits);
  if (text === before?.text)
    throw new FileProblemError(`The edits would not change ${file.name}: "old" and "new" are the same.`);
  requireEditable(file, text);
  return text;
}

function created({ name }: WorkspaceFile, [first, ...others]: EditFile['edits']): string {
  if (first?.old === '' && others.length === 0) return first.new;
  throw new FileProblemError(
    `There is no file ${name}. To make it, give one edit with an empty "old" and the whole text as "new".`,
  );
}

function requireEditable({ name }: WorkspaceFile, { length }: string): void {
  if (length > maxEdited)
    throw new FileProblemError(`${name} is longer than a million characters, which are not edited here.`);
}

const unsavedNote = '\n[The editor has unsaved changes of this file. This is what is on the disk.]';

type UnsavedContext = Pick<BuiltinServerOptions, 'openDocuments' | 'store'>;

async function refuseUnsaved(context: UnsavedContext, file: WorkspaceFile): Promise<void> {
  if (await isUnsaved(context, file)) throw unsaved(file);
}

/** Whether the editor shows what the disk does not have. Line ends do not count, since editors have their own. */
async function isUnsaved({ openDocuments, store }: UnsavedContext, file: WorkspaceFile): Promise<boolean> {
  for (const document of openDocuments()) {
    const named = document.uri.startsWith('file:') ? tryPathOf(document.uri) : undefined;
    if (named === undefined || (await realpath(named).catch(() => named)) !== file.path) continue;
    const onDisk = file.isThere ? await store.read(file, new AbortController().signal) : undefined;
    if (onDisk === undefined || plainEnds(onDisk.text) !== plainEnds(document.getText())) return true;
  }
  return false;
}

function outcomeOf(signal: AbortSignal, work: () => Promise<string>): Promise<CallOutcome> {
  const succeed = async (): Promise<CallOutcome> => ({ content: await work(), isError: false });
  return orProblem(signal, succeed, failedOutcome);
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

/** Edits of one file wait for each other: the next one is made from what the one before it has written. */
function createFileTurns() {
  const queue = new SerialQueue();
  /** Waits for the turn of a file. The function that it returns ends it. */
  return async (path: string, signal: AbortSignal): Promise<() => void> => {
    const turn = new Promise<() => void>((begin) => {
      void queue.run(path, () => new Promise<void>((end) => begin(end)));
    });
    try {
      return await orAborted(turn, signal);
    } catch (error) {
      void turn.then((end) => end());
      throw error;
    }
  };
}

/** Such as `+3 -1 lines`. */
function lineCounts({ unified }: FileDiff): string {
  const lines = unified.split('\n');
  const beginning = (sign: string) => lines.filter((line) => line.startsWith(sign)).length;
  return `+${beginning('+')} -${beginning('-')} lines`;
}
