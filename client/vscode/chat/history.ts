import * as vscode from 'vscode';
import type { Attachment, Message } from '../../../protocol/chat.ts';
import { isPicture } from '../convert/messages.ts';
import { isAside } from './answerWriter.ts';
import { attachedOnce } from './attachedOnce.ts';
import { withPrompt } from './prompts.ts';
import { readMetadata } from './turnMetadata.ts';

/** The earlier turns: what the user asked, what was answered, and the tools that were called. */
export async function toHistory({ history }: vscode.ChatContext): Promise<readonly Message[]> {
  const turns = await Promise.all(
    history.map(async (turn) => (turn instanceof vscode.ChatRequestTurn ? toAsked(turn) : toAnswer(turn))),
  );
  return turns.flat();
}

/** A choice of a model was no question. */
async function toAsked(turn: vscode.ChatRequestTurn): Promise<readonly Message[]> {
  return turn.command === 'model' ? [] : [(await toQuestion(turn)).message];
}

export interface Question {
  readonly message: Message;
  /** Names of attachments that cannot be read, such as a file that is not text. */
  readonly leftOut: readonly string[];
}

/** A question that is being asked, or was asked in an earlier turn. */
interface Asked extends Pick<vscode.ChatRequest, 'prompt' | 'references'> {
  readonly command?: string | undefined;
}

/** The user's question, and the attachments apart from its words. */
export async function toQuestion({ prompt, command, references }: Asked): Promise<Question> {
  const parts = await Promise.all(references.map(partOf));
  const images = parts.flatMap(({ image }) => image ?? []);
  const attachments = attachedOnce(parts.flatMap(({ attachment }) => attachment ?? []));
  return {
    message: {
      role: 'user',
      content: withPrompt(command, prompt),
      ...(attachments.length === 0 ? {} : { attachments }),
      ...(images.length === 0 ? {} : { images }),
    },
    leftOut: parts.flatMap(({ leftOut }) => leftOut ?? []),
  };
}

/** For a turn with tools, all of its messages; otherwise the text that was shown, without the thinking. */
function toAnswer({ response, result }: vscode.ChatResponseTurn): readonly Message[] {
  const { messages } = readMetadata(result.metadata) ?? {};
  if (messages) return messages;
  const content = response.map(answerOf).join('');
  return content === '' ? [] : [{ role: 'assistant', content }];
}

/** At most this many characters of an attached file are sent, and this many names of a folder. */
const maxReference = 100_000;
const maxNames = 500;

/** A reference as it is sent. */
interface Part {
  readonly attachment?: Attachment;
  /** Base64. */
  readonly image?: string;
  /** The name of a reference that cannot be read. */
  readonly leftOut?: string;
}

async function partOf({ value, modelDescription }: vscode.ChatPromptReference): Promise<Part> {
  if (typeof value === 'string') return { attachment: toAttachment(modelDescription || 'text', value) };
  if (value instanceof vscode.Uri) return isImage(value) ? imageFile(value) : filePart(value);
  if (value instanceof vscode.Location) return filePart(value.uri, value.range);
  return pastedImage(value);
}

async function filePart(uri: vscode.Uri, range?: vscode.Range): Promise<Part> {
  const path = vscode.workspace.asRelativePath(uri);
  try {
    const document = await vscode.workspace.openTextDocument(uri);
    if (isBinary(document.getText())) return { leftOut: path };
    const attachment = toAttachment(path, document.getText(range));
    if (range === undefined) return { attachment };
    return { attachment: { ...attachment, lines: `${range.start.line + 1}-${range.end.line + 1}` } };
  } catch {
    const names = await namesIn(uri);
    return names === undefined ? { leftOut: path } : { attachment: toAttachment(`${path}/`, names) };
  }
}

/** The editor opens many files even though they are not text. */
function isBinary(text: string): boolean {
  return text.slice(0, 8192).includes('\0');
}

/** The names in a folder, one a line; undefined if it is not a folder. */
async function namesIn(uri: vscode.Uri): Promise<string | undefined> {
  try {
    const entries = await vscode.workspace.fs.readDirectory(uri);
    const names = entries
      .map(([name, type]) => (type & vscode.FileType.Directory ? `${name}/` : name))
      .sort();
    const more = names.length > maxNames ? [`(${names.length - maxNames} more)`] : [];
    return [...names.slice(0, maxNames), ...more].join('\n');
  } catch {
    return undefined;
  }
}

function toAttachment(path: string, text: string): Attachment {
  return { path, text: text.length > maxReference ? `${text.slice(0, maxReference)}\n(cut)` : text };
}

/** Pasted content comes with its type and a function for its bytes; it is in no stable typing. */
async function pastedImage(value: unknown): Promise<Part> {
  if (typeof value !== 'object' || value === null) return {};
  const [type, data]: readonly unknown[] = [Reflect.get(value, 'mimeType'), Reflect.get(value, 'data')];
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

function answerOf(part: vscode.ChatResponseTurn['response'][number]): string {
  return part instanceof vscode.ChatResponseMarkdownPart && !isAside(part.value) ? part.value.value : '';
}
