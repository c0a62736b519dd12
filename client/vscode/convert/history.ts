import * as vscode from 'vscode';
import type { Message } from '../../../protocol/chat.ts';
import { isAside } from '../chat/answerWriter.ts';
import { readMetadata } from '../chat/turnMetadata.ts';
import { isPicture } from './messages.ts';

/** The turns before this one: what the user asked, and what was answered, with the tools that were called. */
export async function toHistory({ history }: vscode.ChatContext): Promise<readonly Message[]> {
  const turns = await Promise.all(
    history.map(async (turn) =>
      turn instanceof vscode.ChatRequestTurn ? [await toQuestion(turn)] : toAnswer(turn),
    ),
  );
  return turns.flat();
}

/** What the user asks, with what is attached to it before the words. */
export async function toQuestion({
  prompt,
  references,
}: Pick<vscode.ChatRequest, 'prompt' | 'references'>): Promise<Message> {
  const images = (await Promise.all(references.map(imageOf))).filter((image) => image !== undefined);
  return {
    role: 'user',
    content: await withReferences(prompt, references),
    ...(images.length === 0 ? {} : { images }),
  };
}

/** Of a turn with tools all that was said in it; else the text that was shown, without what was only thought. */
function toAnswer({ response, result }: vscode.ChatResponseTurn): readonly Message[] {
  const { messages } = readMetadata(result.metadata) ?? {};
  if (messages) return messages;
  const content = response.map(answerOf).join('');
  return content === '' ? [] : [{ role: 'assistant', content }];
}

/** Of an attached file this many characters are sent. */
const maxReference = 100_000;

/** References become leading context blocks, which the daemon makes a system message of. */
async function withReferences(
  prompt: string,
  references: readonly vscode.ChatPromptReference[],
): Promise<string> {
  const blocks = await Promise.all(references.map(blockOf));
  const attached = blocks.filter((block) => block !== undefined);
  // One block for all: of several of one name only the newest would count.
  const whole = attached.length === 0 ? [] : [`<attachments>\n${attached.join('\n')}\n</attachments>`];
  return [...whole, prompt].join('\n');
}

async function blockOf({ value, modelDescription }: vscode.ChatPromptReference): Promise<string | undefined> {
  if (typeof value === 'string') return block(modelDescription ?? 'text', value);
  if (value instanceof vscode.Uri) return fileBlock(value);
  if (value instanceof vscode.Location) return fileBlock(value.uri, value.range);
  return undefined;
}

async function fileBlock(uri: vscode.Uri, range?: vscode.Range): Promise<string | undefined> {
  try {
    const document = await vscode.workspace.openTextDocument(uri);
    const lines = range === undefined ? '' : `:${range.start.line + 1}-${range.end.line + 1}`;
    return block(vscode.workspace.asRelativePath(uri) + lines, document.getText(range));
  } catch {
    // A picture, or a folder: it goes another way, or not at all.
    return undefined;
  }
}

function block(path: string, text: string): string {
  const kept = text.length > maxReference ? `${text.slice(0, maxReference)}\n(cut)` : text;
  // A file that holds the end of a block must not end it: the rest would be the user's words.
  const inside = kept.replace(/<\/(?=attachments?\b)/gi, '<\\/');
  return `<attachment path="${path.replace(/["<>\r\n]/g, "'")}">\n${inside}\n</attachment>`;
}

async function imageOf({ value }: vscode.ChatPromptReference): Promise<string | undefined> {
  if (value instanceof vscode.Uri) return isImage(value) ? readImage(value) : undefined;
  // What was pasted comes with its type and a function for its bytes; no stable typing has it.
  if (typeof value !== 'object' || value === null) return undefined;
  const [type, data]: readonly unknown[] = [Reflect.get(value, 'mimeType'), Reflect.get(value, 'data')];
  if (typeof data !== 'function' || typeof type !== 'string' || !isPicture(type)) return undefined;
  const bytes: unknown = await data.call(value);
  return bytes instanceof Uint8Array ? Buffer.from(bytes).toString('base64') : undefined;
}

function isImage({ path }: vscode.Uri): boolean {
  return /\.(png|jpe?g|gif|webp)$/i.test(path);
}

/** A picture of an older turn may be gone. */
async function readImage(uri: vscode.Uri): Promise<string | undefined> {
  try {
    return Buffer.from(await vscode.workspace.fs.readFile(uri)).toString('base64');
  } catch {
    return undefined;
  }
}

function answerOf(part: vscode.ChatResponseTurn['response'][number]): string {
  return part instanceof vscode.ChatResponseMarkdownPart && !isAside(part.value) ? part.value.value : '';
}
