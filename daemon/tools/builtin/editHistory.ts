import { readdir, rm, stat } from 'node:fs/promises';
import { join } from 'node:path';
import * as z from 'zod/mini';
import { replaceFile, writePrivateFile } from '../../../protocol/base/platform/privateFile.ts';
import { SerialQueue } from '../../../protocol/base/serialQueue.ts';
import type { RestoredEdits } from '../../../protocol/messages/tools.ts';
import { tryReadKept } from '../../base/regularFile.ts';
import type { CallContext } from '../../chat/daemonTools.ts';
import type { EditHistory } from '../toolServer.ts';
import { createFileDiff } from './fileDiff.ts';
import { FileProblemError } from './fileProblem.ts';
import { decodeText, encodeText, type FileStore } from './fileStore.ts';
import type { Workspace } from './workspace.ts';

interface EditHistoryOptions {
  readonly sessionsFolder: string;
  readonly workspace: Workspace;
  readonly store: FileStore;
}

/** A file before and after edits. */
interface EditedFile {
  /** Absolute. */
  readonly path: string;
  readonly name: string;
  /** Undefined if the edit has made the file. */
  readonly before: Buffer | undefined;
  readonly after: Buffer;
}

/** Keeps an edit, so that it can be taken back. */
export type NoteEdit = (turn: NonNullable<CallContext['turn']>, file: EditedFile) => Promise<void>;

/** In bytes, for all edits of a conversation; the oldest go first. */
const maxKept = 64 * 1024 * 1024;
/** Of one edit: two texts of a million characters in base64. */
const maxRecord = 16 * 1024 * 1024;

const recordSchema = z.object({
  turn: z.string(),
  prompt: z.number(),
  path: z.string(),
  name: z.string(),
  before: z.optional(z.string()),
  after: z.string(),
});

type EditRecord = z.output<typeof recordSchema>;

interface KeptEdit {
  /** The path of its file. */
  readonly file: string;
  readonly record: EditRecord;
}

/** The ending of an edit that counts, and of one that was taken back. */
const endings = { made: '.json', undone: '.undone' } as const;

/**
 * Keeps the edits of a conversation in a folder beside it that only the user can read: one file for each, with the
 * bytes before and after. Takes those of a turn back, and brings them back, as long as nobody else has changed the
 * files.
 */
export function createEditHistory(options: EditHistoryOptions): EditHistory & { readonly note: NoteEdit } {
  const writing = new SerialQueue();
  const folderOf = (session: string) => join(options.sessionsFolder, `${session}.edits`);

  /** The edits of one turn, in their order: of the last that has made any, or the first that was taken back. */
  const turnOf = async (session: string, state: keyof typeof endings) => {
    const names = (await namesIn(folderOf(session))).filter((name) => name.endsWith(endings[state]));
    const found: KeptEdit[] = [];
    for (const name of state === 'made' ? names.reverse() : names) {
      const file = join(folderOf(session), name);
      const record = await tryReadKept(file, { schema: recordSchema, maxBytes: maxRecord });
      if (!record || record.turn !== (found[0]?.record ?? record).turn) break;
      found.push({ file, record });
    }
    return state === 'made' ? found.reverse() : found;
  };
  const madeIn = async (session: string, prompt: number) =>
    (await turnOf(session, 'made')).filter(({ record }) => record.prompt === prompt);

  return {
    /** One after another: edits of several files are made at the same time. */
    note: (turn, { before, after, ...file }) =>
      writing.run(turn.session, () => {
        const old = before && { before: before.toString('base64') };
        const record = {
          turn: turn.id,
          prompt: turn.prompt,
          ...file,
          ...old,
          after: after.toString('base64'),
        };
        return write(folderOf(turn.session), record);
      }),
    async list(session, prompt) {
      const edits = await madeIn(session, prompt);
      const files = filesOf(edits).map(({ path, name, before, after }) => {
        const old = before && { before: decodeText(before).text };
        return createFileDiff({ path, name, ...old, after: decodeText(after).text });
      });
      return { files, count: edits.length };
    },
    undo: async (session, prompt, signal) =>
      restore(options, await madeIn(session, prompt), 'undone', signal),
    redo: async (session, signal) => restore(options, await turnOf(session, 'undone'), 'made', signal),
  };
}

async function restore(
  options: EditHistoryOptions,
  edits: readonly KeptEdit[],
  to: keyof typeof endings,
  signal: AbortSignal,
): Promise<RestoredEdits> {
  const restored: string[] = [];
  const left: { name: string; reason: string }[] = [];
  for (const { name, before, after, path } of filesOf(edits)) {
    const change = to === 'made' ? { from: before, to: after } : { from: after, to: before };
    try {
      await put(options, { name, path, ...change }, signal);
      restored.push(name);
    } catch (error) {
      if (!(error instanceof FileProblemError)) throw error;
      left.push({ name, reason: error.message });
    }
  }
  for (const { file } of edits) await replaceFile(file, file.replace(/\.\w+$/, endings[to]));
  return { restored, left };
}

interface Replacement extends Pick<EditedFile, 'path' | 'name'> {
  /** What is there if nobody has changed it; undefined: nothing. */
  readonly from: Buffer | undefined;
  readonly to: Buffer | undefined;
}

/** @throws {FileProblemError} if the file is not as the agent left it, or cannot be written. */
async function put(
  { workspace, store }: EditHistoryOptions,
  { path, name, from, to }: Replacement,
  signal: AbortSignal,
): Promise<void> {
  const file = await workspace.find(path);
  const present = file.isThere ? await store.read(file, signal) : undefined;
  const isSame = present && from ? encodeText(present).equals(from) : present === from;
  if (file.path !== path || !isSame) throw new FileProblemError(`${name} has changed since.`);
  if (to) await store.write(file, { before: present, text: decodeText(to).text }, signal);
  else if (from) await store.remove(file, from);
}

async function namesIn(folder: string): Promise<string[]> {
  return (await readdir(folder).catch(() => [])).sort();
}

async function write(folder: string, record: EditRecord): Promise<void> {
  const names = await namesIn(folder);
  // What was taken back cannot be brought back over a newer edit.
  for (const name of names) if (name.endsWith(endings.undone)) await rm(join(folder, name), { force: true });
  const last = Number.parseInt(names.at(-1) ?? '0', 10) || 0;
  const name = `${String(last + 1).padStart(9, '0')}${endings.made}`;
  await writePrivateFile(join(folder, name), JSON.stringify(record));
  let size = 0;
  for (const kept of [name, ...names.reverse()]) {
    size += (await stat(join(folder, kept)).catch(() => undefined))?.size ?? 0;
    if (size > maxKept) await rm(join(folder, kept), { force: true });
  }
}

/** Each file once. */
function filesOf(edits: readonly KeptEdit[]): readonly EditedFile[] {
  const files = new Map<string, EditedFile>();
  for (const { path, name, ...bytes } of edits.map(({ record }) => record)) {
    const before = bytes.before === undefined ? undefined : Buffer.from(bytes.before, 'base64');
    const first = files.get(path) ?? { before };
    files.set(path, { path, name, before: first.before, after: Buffer.from(bytes.after, 'base64') });
  }
  return [...files.values()].sort((a, b) => (a.name < b.name ? -1 : 1));
}
