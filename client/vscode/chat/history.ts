import * as vscode from 'vscode';
import type { Attachment, Message } from '../../../protocol/messages/chat.ts';
import { isPicture } from '../convert/messages.ts';
import { isAside } from './answerWriter.ts';
import { readMetadata } from './finishedTurn.ts';
import {
  attachedOnce,
  isBinary,
  isTriedAgain,
  listed,
  toAttachment,
  withoutCodebase,
  withoutRetryMark,
  withPrompt,
} from './prompt.ts';

/** What is sent to the model: the earlier turns, and then the prompt. */
interface Conversation {
  readonly messages: readonly Message[];
  /** Names of attachments that cannot be read, such as a file that is not text. */
  readonly leftOut: readonly string[];
  /** Names of files that look attached, but that the user did not attach. */
  readonly notAttached: readonly string[];
}

/** What is sent in place of what was typed. */
interface SentPrompt {
  readonly prompt?: string | undefined;
  /** Base64. */
  readonly images?: readonly string[];
  /** What was found for it. */
  readonly attachments?: readonly Attachment[];
}

export async function toConversation(
  request: vscode.ChatRequest,
  { history }: vscode.ChatContext,
  { prompt: sent = request.prompt, images = [], attachments = [] }: SentPrompt = {},
): Promise<Conversation> {
  const exchanges = exchangesOf(history);
  const tries = triesOf(request, exchanges);
  const before = await Promise.all(exchanges.slice(0, exchanges.length - tries.length).map(toMessages));
  // The attachments of the first try belong to each further one.
  const references = [...tries.flatMap(({ asked }) => asked.references), ...request.references];
  const { command } = request;
  const { message, ...rest } = await toPrompt({ prompt: sent, images, attachments, command, references });
  return { messages: [...before.flat(), message], ...rest };
}

/** A prompt with its answer. */
interface Exchange {
  readonly asked: vscode.ChatRequestTurn;
  readonly answer: vscode.ChatResponseTurn | undefined;
}

function exchangesOf(history: vscode.ChatContext['history']): readonly Exchange[] {
  return history.flatMap((asked, index) => {
    const next = history[index + 1];
    if (!(asked instanceof vscode.ChatRequestTurn)) return [];
    return [{ asked, answer: next instanceof vscode.ChatResponseTurn ? next : undefined }];
  });
}

/** If this prompt repeats the last exchanges: the one that failed, and each that tried it again. */
function triesOf({ prompt }: vscode.ChatRequest, exchanges: readonly Exchange[]): readonly Exchange[] {
  if (!isTriedAgain(prompt) || !hasFailed(exchanges.at(-1))) return [];
  return exchanges.slice(exchanges.findLastIndex(({ asked }) => !isTriedAgain(asked.prompt)));
}

function hasFailed(exchange: Exchange | undefined): boolean {
  return readMetadata(exchange?.answer?.result.metadata)?.ended === 'failed';
}

/**
 * A prompt without an answer is left out, because two prompts in a row confuse models. If the answer failed, its
 * attachments are left out: they may be the reason, and would make every later request fail too.
 */
async function toMessages(exchange: Exchange): Promise<readonly Message[]> {
  const { asked, answer } = exchange;
  const said = answer ? toAnswer(answer) : [];
  if (said.length === 0) return [];
  const { command } = asked;
  const { sent: prompt = asked.prompt } = readMetadata(answer?.result.metadata) ?? {};
  const references = hasFailed(exchange) ? [] : asked.references;
  return [(await toPrompt({ prompt, command, references })).message, ...said];
}

/** A prompt of this turn or of an earlier one. */
interface UserPrompt
  extends Pick<vscode.ChatRequest, 'prompt' | 'references'>,
    Pick<SentPrompt, 'images' | 'attachments'> {
  readonly command?: string | undefined;
}

/** The user's prompt, and the attachments apart from its words. */
async function toPrompt({
  prompt,
  images: own = [],
  attachments: found = [],
  command,
  references,
}: UserPrompt): Promise<Omit<Conversation, 'messages'> & { readonly message: Message }> {
  const parts = await Promise.all(references.map(partOf));
  const images = [...new Set([...own, ...parts.flatMap(({ image }) => image ?? [])])];
  const attachments = attachedOnce([...parts.flatMap(({ attachment }) => attachment ?? []), ...found]);
  const isSent = (path: string) => attachments.some((attachment) => attachment.path === path);
  return {
    message: {
      role: 'user',
      content: withPrompt(command, withoutCodebase(withoutRetryMark(prompt))),
      ...(attachments.length === 0 ? {} : { attachments }),
      ...(images.length === 0 ? {} : { images }),
    },
    leftOut: parts.flatMap(({ leftOut }) => leftOut ?? []),
    notAttached: parts.flatMap(({ notAttached }) => notAttached ?? []).filter((path) => !isSent(path)),
  };
}

/** All messages of a turn with tools; otherwise the text that was shown, without the thinking. */
function toAnswer({ response, result }: vscode.ChatResponseTurn): readonly Message[] {
  const { messages } = readMetadata(result.metadata) ?? {};
  if (messages) return messages;
  const content = response.map(answerOf).join('');
  return content === '' ? [] : [{ role: 'assistant', content }];
}

function answerOf(part: vscode.ChatResponseTurn['response'][number]): string {
  return part instanceof vscode.ChatResponseMarkdownPart && !isAside(part.value) ? part.value.value : '';
}

/** A reference as it is sent. */
interface Part {
  readonly attachment?: Attachment;
  /** Base64. */
  readonly image?: string;
  /** The name of a reference that cannot be read. */
  readonly leftOut?: string;
  /** The path of the open file, which the editor may show as attached although the user did not attach it. */
  readonly notAttached?: string;
}

/** The part to send for a reference. Of what the editor adds by itself, only the selection is sent. */
async function partOf(reference: vscode.ChatPromptReference): Promise<Part> {
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
