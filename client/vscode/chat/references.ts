import * as vscode from 'vscode';
import type { Attachment } from '../../../protocol/messages/chat.ts';
import { isPicture } from '../convert/messages.ts';
import { isBinary, listed, toAttachment } from './prompt.ts';

/** A reference as it is sent. */
export interface Part {
  readonly attachment?: Attachment;
  /** Base64. */
  readonly image?: string;
  /** The name of a reference that cannot be read. */
  readonly leftOut?: string;
  /** The path of the open file, which the editor may show as attached although the user did not attach it. */
  readonly notAttached?: string;
}

/** The part to send for a reference. Of what the editor adds by itself, only the selection is sent. */
export async function partOf(reference: vscode.ChatPromptReference): Promise<Part> {
  const part = await readPart(reference);
  const isAutomatic = part.attachment && reference.id.startsWith(implicitIds);
  return isAutomatic ? { ...part, attachment: { ...part.attachment, automatic: true } } : part;
}

/** The lines that the user attached, or else the selection, which the editor may add by itself to what is attached. */
export function placesOf(references: readonly vscode.ChatPromptReference[]): readonly vscode.Location[] {
  const placesWith = (fits: (id: string) => boolean) =>
    references.flatMap(({ id, value }) => (value instanceof vscode.Location && fits(id) ? [value] : []));
  const attached = placesWith((id) => !id.startsWith(ownIds));
  return attached.length > 0 ? attached : placesWith((id) => chosen.includes(id));
}

/** The ids of what the editor adds by itself from the open file, such as the selection. */
const implicitIds = 'vscode.implicit.';

async function readPart(reference: vscode.ChatPromptReference): Promise<Part> {
  const { id, value, modelDescription } = reference;
  if (shownAsAttached.includes(id)) return { notAttached: pathOf(value) };
  if (!(await isAttached(reference))) return {};
  if (typeof value === 'string') return { attachment: toAttachment(modelDescription || 'text', value) };
  if (value instanceof vscode.Uri) return isImage(value) ? imageFile(value) : filePart(value);
  if (value instanceof vscode.Location) return filePart(value.uri, value.range);
  return pastedImage(value);
}

/**
 * What the editor adds by itself has an id of the editor's own, such as `vscode.customizations.index`; the id of an
 * attachment comes from the attached thing. The ids in `chosen` are the editor's own too, but stand for the user's
 * choice.
 */
const ownIds = 'vscode.';
const chosen: readonly string[] = [
  'vscode.implicit.selection',
  'vscode.implicit.string',
  'vscode.notebook.variable',
  'vscode.prompt.file',
];
const shownAsAttached: readonly string[] = ['vscode.implicit.file', 'vscode.implicit.viewport'];
const instructions = 'vscode.instructions.file.root';

function pathOf(value: unknown): string {
  const uri = value instanceof vscode.Location ? value.uri : value;
  return uri instanceof vscode.Uri ? vscode.workspace.asRelativePath(uri) : 'the open file';
}

/** Whether the user attached or selected it. */
async function isAttached({ id, value }: vscode.ChatPromptReference): Promise<boolean> {
  if (!id.startsWith(ownIds)) return true;
  // The address of a file may follow.
  const [kind = id] = id.split('__', 1);
  if (kind === instructions && value instanceof vscode.Uri) return isChosenByHand(value);
  return chosen.includes(kind);
}

/**
 * An instructions file has the same id whether or not the user chose it. By itself, the editor adds the files that are
 * made for that, such as `AGENTS.md`, and those whose header says to which files they apply.
 */
async function isChosenByHand(uri: vscode.Uri): Promise<boolean> {
  if (!uri.path.endsWith('.instructions.md')) return false;
  try {
    const [, header = ''] = (await vscode.workspace.openTextDocument(uri)).getText().split(/^---\r?$/m, 2);
    return !/^applyTo:/m.test(header);
  } catch {
    return false;
  }
}

async function filePart(uri: vscode.Uri, range?: vscode.Range): Promise<Part> {
  const path = vscode.workspace.asRelativePath(uri);
  try {
    const document = await vscode.workspace.openTextDocument(uri);
    if (isBinary(document.getText())) return { leftOut: path };
    const attachment = { ...toAttachment(path, document.getText(range)), uris: [uri.toString()] };
    if (range === undefined) return { attachment };
    return { attachment: { ...attachment, lines: `${range.start.line + 1}-${range.end.line + 1}` } };
  } catch {
    const names = await namesIn(uri);
    return names === undefined ? { leftOut: path } : { attachment: toAttachment(`${path}/`, names) };
  }
}

/** The names in a folder, one a line; undefined if it is not a folder. */
async function namesIn(uri: vscode.Uri): Promise<string | undefined> {
  try {
    const entries = await vscode.workspace.fs.readDirectory(uri);
    return listed(entries.map(([name, type]) => (type & vscode.FileType.Directory ? `${name}/` : name)));
  } catch {
    return undefined;
  }
}

/** Pasted content comes with its type and a function for its bytes; it is in no stable typing. */
async function pastedImage(value: unknown): Promise<Part> {
  if (typeof value !== 'object' || value === null) return {};
  const type: unknown = Reflect.get(value, 'mimeType');
  const data: unknown = Reflect.get(value, 'data');
  if (typeof data !== 'function' || typeof type !== 'string') return {};
  const name = `what was pasted (${type})`;
  try {
    const bytes: unknown = isPicture(type) ? await data.call(value) : undefined;
    return bytes instanceof Uint8Array ? { image: toBase64(bytes) } : { leftOut: name };
  } catch {
    return { leftOut: name };
  }
}

function isImage({ path }: vscode.Uri): boolean {
  return /\.(png|jpe?g|gif|webp|bmp)$/i.test(path);
}

/** The picture of an older turn may be gone. */
async function imageFile(uri: vscode.Uri): Promise<Part> {
  try {
    return { image: toBase64(await vscode.workspace.fs.readFile(uri)) };
  } catch {
    return { leftOut: vscode.workspace.asRelativePath(uri) };
  }
}

function toBase64(bytes: Uint8Array): string {
  return Buffer.from(bytes).toString('base64');
}
