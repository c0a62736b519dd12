import { readdir, rm, stat } from 'node:fs/promises';
import { join } from 'node:path';
import * as z from 'zod/mini';
import { SerialQueue } from '../../../protocol/base/keyedWork.ts';
import { replaceFile, writePrivateFile } from '../../../protocol/base/platform/privateFile.ts';
import type { EditsResult, RestoredEdits } from '../../../protocol/messages/tools.ts';
import { tryReadKept } from '../../base/regularFile.ts';
import type { CallContext } from '../../chat/daemonTools.ts';
import { FileProblemError } from './fileProblem.ts';
import { decodeText, encodeText, type FileStore, type FileText, type NewText } from './fileStore.ts';
import { createFileDiff } from './textEdits.ts';
import type { ProjectFile, Workspace } from './workspace.ts';

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

/** The ending of an edit that counts, and of one that was taken back. */
const endings = { made: '.json', undone: '.undone' } as const;

/**
 * Keeps the edits of a conversation in a folder beside it that only the user can read: one file for each, with the
 * bytes before and after. Takes those of a turn back, and brings them back, as long as nobody else has changed the
 * files.
 */
export class EditHistory {
  readonly #sessionsFolder: string;
  readonly #files: { readonly workspace: Workspace; readonly store: FileStore };
  readonly #writing = new SerialQueue();

  constructor(sessionsFolder: string, files: { readonly workspace: Workspace; readonly store: FileStore }) {
    this.#sessionsFolder = sessionsFolder;
    this.#files = files;
  }

  /** One after another: edits of several files are made at the same time. */
  note(
    { session, id, prompt }: NonNullable<CallContext['turn']>,
    { path, name }: ProjectFile,
    { before, text }: NewText,
  ): Promise<void> {
    const after = base64Of({ text, hasMark: before?.hasMark ?? false });
    const record = { turn: id, prompt, path, name, before: before && base64Of(before), after };
    return this.#writing.run(session, () => write(this.#folderOf(session), record));
  }

  async list(session: string, prompt: number): Promise<EditsResult> {
    const edits = await this.#madeIn(session, prompt);
    const files = filesOf(edits).map(({ path, name, before, after }) => {
      const old = before === undefined ? {} : { before: textOf(before) };
      return createFileDiff({ path, name, ...old, after: textOf(after) });
    });
    return { files, count: edits.size };
  }

  async undo(session: string, prompt: number, signal: AbortSignal): Promise<RestoredEdits> {
    return this.#restore(await this.#madeIn(session, prompt), 'undone', signal);
  }

  async redo(session: string, signal: AbortSignal): Promise<RestoredEdits> {
    return this.#restore(await this.#turnOf(session, 'undone'), 'made', signal);
  }

  #folderOf(session: string): string {
    return join(this.#sessionsFolder, `${session}.edits`);
  }

  /** None if a later turn has made some. */
  async #madeIn(session: string, prompt: number): Promise<ReadonlyMap<string, EditRecord>> {
    const edits = await this.#turnOf(session, 'made');
    return [...edits.values()][0]?.prompt === prompt ? edits : new Map();
  }

  /** By their paths, the edits of one turn in their order: of the last that has made any, or the first taken back. */
  async #turnOf(session: string, state: keyof typeof endings): Promise<ReadonlyMap<string, EditRecord>> {
    const folder = this.#folderOf(session);
    const names = (await namesIn(folder)).filter((name) => name.endsWith(endings[state]));
    const found: [path: string, record: EditRecord][] = [];
    for (const name of state === 'made' ? names.reverse() : names) {
      const path = join(folder, name);
      const record = await tryReadKept(path, recordSchema, maxRecord);
      if (!record || record.turn !== (found[0]?.[1] ?? record).turn) break;
      found.push([path, record]);
    }
    return new Map(state === 'made' ? found.reverse() : found);
  }

  /** A file that is not as it was left is named, and stays. */
  async #restore(
    edits: ReadonlyMap<string, EditRecord>,
    to: keyof typeof endings,
    signal: AbortSignal,
  ): Promise<RestoredEdits> {
    const { workspace, store } = this.#files;
    const restored: string[] = [];
    const left: { name: string; reason: string }[] = [];
    for (const { path, name, ...texts } of filesOf(edits)) {
      const [from, wanted] = to === 'made' ? [texts.before, texts.after] : [texts.after, texts.before];
      try {
        const file = await workspace.find(path);
        const before = file.isThere ? await store.read(file, signal) : undefined;
        if (file.path !== path || (before && base64Of(before)) !== from)
          throw new FileProblemError(`${name} has changed since.`);
        if (wanted !== undefined) await store.write(file, { before, text: textOf(wanted) }, signal);
        else if (from !== undefined) await store.remove(file, Buffer.from(from, 'base64'), signal);
        restored.push(name);
      } catch (error) {
        if (!(error instanceof FileProblemError)) throw error;
        left.push({ name, reason: error.message });
      }
    }
    for (const kept of edits.keys()) await replaceFile(kept, kept.replace(/\.\w+$/, endings[to]));
    return { restored, left };
  }
}

/** A text as it is kept. */
function base64Of(text: Pick<FileText, 'text' | 'hasMark'>): string {
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

/** Each file once, from before its first edit to after its last. */
function filesOf(edits: ReadonlyMap<string, EditRecord>): readonly EditRecord[] {
  const files = new Map<string, EditRecord>();
  for (const record of edits.values())
    files.set(record.path, { ...record, before: (files.get(record.path) ?? record).before });
  return [...files.values()].sort((a, b) => (a.name < b.name ? -1 : 1));
}
