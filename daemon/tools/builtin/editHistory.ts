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
import { decodeText, encodeText, type FileStore, type FileText } from './fileStore.ts';
import type { Workspace } from './workspace.ts';

interface EditHistoryOptions {
  readonly sessionsFolder: string;
  readonly workspace: Workspace;
  readonly store: FileStore;
}

/** In bytes, for all edits of a conversation; the oldest go first. */
const maxKept = 64 * 1024 * 1024;
/** Of one edit: two texts of a million characters in base64. */
const maxRecord = 16 * 1024 * 1024;

const recordSchema = z.object({
  turn: z.string(),
  prompt: z.number(),
  /** Absolute. */
  path: z.string(),
  name: z.string(),
  /** In base64, as what comes after. Undefined if the edit has made the file. */
  before: z.optional(z.string()),
  after: z.string(),
});

type EditRecord = z.output<typeof recordSchema>;

/** Keeps an edit of a file, so that it can be taken back. */
export type NoteEdit = (
  turn: NonNullable<CallContext['turn']>,
  edit: Omit<EditRecord, 'turn' | 'prompt'>,
) => Promise<void>;

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
    note: ({ session, id, prompt }, edit) =>
      writing.run(session, () => write(folderOf(session), { turn: id, prompt, ...edit })),
    async list(session, prompt) {
      const edits = await madeIn(session, prompt);
      const files = filesOf(edits).map(({ path, name, before, after }) => {
        const old = before === undefined ? {} : { before: textOf(before) };
        return createFileDiff({ path, name, ...old, after: textOf(after) });
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
  for (const { path, name, before, after } of filesOf(edits)) {
    const [from, wanted] = to === 'made' ? [before, after] : [after, before];
    try {
      await put(options, { path, name, from, wanted }, signal);
      restored.push(name);
    } catch (error) {
      if (!(error instanceof FileProblemError)) throw error;
      left.push({ name, reason: error.message });
    }
  }
  for (const { file } of edits) await replaceFile(file, file.replace(/\.\w+$/, endings[to]));
  return { restored, left };
}

interface Replacement extends Pick<EditRecord, 'path' | 'name'> {
  /** What is there if nobody has changed it, and what comes there; undefined: nothing. */
  readonly from: string | undefined;
  readonly wanted: string | undefined;
}

/** @throws {FileProblemError} if the file is not as the agent left it, or cannot be written. */
async function put(
  { workspace, store }: EditHistoryOptions,
  { path, name, from, wanted }: Replacement,
  signal: AbortSignal,
): Promise<void> {
  const file = await workspace.find(path);
  const before = file.isThere ? await store.read(file, signal) : undefined;
  if (file.path !== path || (before && base64Of(before)) !== from)
    throw new FileProblemError(`${name} has changed since.`);
  if (wanted !== undefined) await store.write(file, { before, text: textOf(wanted) }, signal);
  else if (from !== undefined) await store.remove(file, Buffer.from(from, 'base64'));
}

/** A text as it is kept. */
export function base64Of(text: Pick<FileText, 'text' | 'hasMark'>): string {
  return encodeText(text).toString('base64');
}

function textOf(base64: string): string {
  return decodeText(Buffer.from(base64, 'base64')).text;
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
function filesOf(edits: readonly KeptEdit[]): readonly EditRecord[] {
  const files = new Map<string, EditRecord>();
  for (const { record } of edits)
    files.set(record.path, { ...(files.get(record.path) ?? record), after: record.after });
  return [...files.values()].sort((a, b) => (a.name < b.name ? -1 : 1));
}
