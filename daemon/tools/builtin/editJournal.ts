import { readdir, rm, stat } from 'node:fs/promises';
import { join } from 'node:path';
import * as z from 'zod/mini';
import { replaceFile, writePrivateFile } from '../../../protocol/base/platform/privateFile.ts';
import { SerialQueue } from '../../../protocol/base/serialQueue.ts';
import { tryReadKept } from '../../base/regularFile.ts';

/** The turn that makes an edit. */
export interface EditingTurn {
  /** The id of its conversation. */
  readonly session: string;
  /** How many prompts the conversation has. */
  readonly prompt: number;
  /** Another one for a prompt that is asked again. */
  readonly id: string;
}

/** A file before and after the edits of a turn. */
export interface EditedFile {
  /** Absolute. */
  readonly path: string;
  readonly name: string;
  /** Absent: the turn has made the file. */
  readonly before?: Buffer;
  readonly after: Buffer;
}

/** The edits of one turn, each file once. */
export interface TurnEdits {
  readonly files: readonly EditedFile[];
  /** How many edits there were. */
  readonly count: number;
  readonly records: readonly string[];
}

/** In bytes, for all edits of a conversation; the oldest go first. */
const maxKept = 64 * 1024 * 1024;
/** Of one record: two texts of a million characters in base64. */
const maxRecord = 16 * 1024 * 1024;

const recordSchema = z.object({
  turn: z.string(),
  prompt: z.number(),
  path: z.string(),
  name: z.string(),
  before: z.optional(z.string()),
  after: z.string(),
});

type Kept = z.output<typeof recordSchema>;

/** The ending of a record that counts, and of one whose edit was taken back. */
const endings = { made: '.json', undone: '.undone' } as const;

/**
 * What the edits of a conversation have changed, in a folder beside it that only the user can read: one file for each
 * edit, with the bytes before and after.
 */
export function createEditJournal(sessionsFolder: string) {
  const writing = new SerialQueue();
  const folderOf = (session: string) => join(sessionsFolder, `${session}.edits`);
  const namesOf = async (session: string) => (await readdir(folderOf(session)).catch(() => [])).sort();
  const read = (session: string, name: string) =>
    tryReadKept(join(folderOf(session), name), { schema: recordSchema, maxBytes: maxRecord });

  /** The records of one turn: the last that counts, or the first that was taken back. */
  const turn = async (
    session: string,
    state: keyof typeof endings,
    prompt?: number,
  ): Promise<TurnEdits | undefined> => {
    const names = (await namesOf(session)).filter((name) => name.endsWith(endings[state]));
    const found: { readonly name: string; readonly record: Kept }[] = [];
    for (const name of state === 'made' ? names.reverse() : names) {
      const record = await read(session, name);
      if (!record || record.turn !== (found[0]?.record.turn ?? record.turn)) break;
      found.push({ name, record });
    }
    if (found.length === 0 || (prompt !== undefined && found[0]?.record.prompt !== prompt)) return undefined;
    const inOrder = state === 'made' ? found.reverse() : found;
    const records = inOrder.map(({ name }) => name);
    return { files: filesOf(inOrder.map(({ record }) => record)), count: records.length, records };
  };

  return {
    /** One after another: edits of several files are made at the same time. */
    note: (editing: EditingTurn, file: EditedFile): Promise<void> =>
      writing.run(editing.session, () => write(folderOf(editing.session), editing, file)),
    /** Those of the last turn with edits, if it is the one with so many prompts. */
    made: (session: string, prompt: number) => turn(session, 'made', prompt),
    /** Those that were taken back last. */
    undone: (session: string) => turn(session, 'undone'),
    async mark(session: string, { records }: TurnEdits, state: keyof typeof endings): Promise<void> {
      for (const name of records) {
        const at = (ending: string) => join(folderOf(session), `${name.split('.')[0]}${ending}`);
        await replaceFile(join(folderOf(session), name), at(endings[state]));
      }
    },
  };
}

async function write(
  folder: string,
  { prompt, id }: EditingTurn,
  { before, after, ...file }: EditedFile,
): Promise<void> {
  const names = (await readdir(folder).catch(() => [])).sort();
  // What was taken back cannot be brought back over a newer edit.
  for (const name of names) if (name.endsWith(endings.undone)) await rm(join(folder, name), { force: true });
  const last = Number.parseInt(names.at(-1) ?? '0', 10) || 0;
  const bytes = {
    ...(before ? { before: before.toString('base64') } : {}),
    after: after.toString('base64'),
  };
  const record: Kept = { turn: id, prompt, ...file, ...bytes };
  const name = `${String(last + 1).padStart(9, '0')}${endings.made}`;
  await writePrivateFile(join(folder, name), JSON.stringify(record));
  await makeRoom(folder, [...names, name]);
}

function filesOf(records: readonly Kept[]): readonly EditedFile[] {
  const files = new Map<string, EditedFile>();
  for (const { path, name, before, after } of records) {
    const first = files.get(path);
    const old = first ? first.before : before === undefined ? undefined : Buffer.from(before, 'base64');
    files.set(path, { path, name, ...(old ? { before: old } : {}), after: Buffer.from(after, 'base64') });
  }
  return [...files.values()].sort((a, b) => (a.name < b.name ? -1 : 1));
}

async function makeRoom(folder: string, names: readonly string[]): Promise<void> {
  const sizes = await Promise.all(
    names.map(async (name) => (await stat(join(folder, name)).catch(() => undefined))?.size ?? 0),
  );
  let size = sizes.reduce((sum, each) => sum + each, 0);
  for (const [at, name] of names.entries()) {
    if (size <= maxKept) return;
    size -= sizes[at] ?? 0;
    await rm(join(folder, name), { force: true });
  }
}
