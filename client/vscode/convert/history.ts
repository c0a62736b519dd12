import * as vscode from 'vscode';
import type { Message } from '../../../protocol/chat.ts';

/** The turns before this one: what the user asked, and what was answered. */
export async function toHistory(context: vscode.ChatContext): Promise<readonly Message[]> {
  const messages = await Promise.all(
    context.history.map(async (turn): Promise<Message | undefined> => {
      if (turn instanceof vscode.ChatRequestTurn)
        return { role: 'user', content: await withReferences(turn.prompt, turn.references) };
      const content = turn.response.map(answerOf).join('');
      return content === '' ? undefined : { role: 'assistant', content };
    }),
  );
  return messages.filter((message) => message !== undefined);
}

/** What the user asks now, with what is attached to it before the words. */
export async function toQuestion({ prompt, references }: vscode.ChatRequest): Promise<Message> {
  const images = (await Promise.all(references.map(imageOf))).filter((image) => image !== undefined);
  return {
    role: 'user',
    content: await withReferences(prompt, references),
    ...(images.length === 0 ? {} : { images }),
  };
}

/** Of an attached file this many characters are sent. */
const maxReference = 100_000;

/** References become leading context blocks, which the daemon makes a system message of. */
async function withReferences(
  prompt: string,
  references: readonly vscode.ChatPromptReference[],
): Promise<string> {
  const blocks = await Promise.all(references.map(blockOf));
  return [...blocks.filter((block) => block !== undefined), prompt].join('\n');
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
  const cut = text.length > maxReference ? `${text.slice(0, maxReference)}\n(cut)` : text;
  return `<attachment path="${path.replaceAll('"', "'")}">\n${cut}\n</attachment>`;
}

async function imageOf({ value }: vscode.ChatPromptReference): Promise<string | undefined> {
  if (value instanceof vscode.Uri && /\.(png|jpe?g|gif|webp)$/i.test(value.path))
    return Buffer.from(await vscode.workspace.fs.readFile(value)).toString('base64');
  // What was pasted comes with its type and a function for its bytes; no stable typing has it.
  const data: unknown = typeof value === 'object' && value !== null ? Reflect.get(value, 'data') : undefined;
  if (typeof data !== 'function') return undefined;
  const bytes: unknown = await data.call(value);
  return bytes instanceof Uint8Array ? Buffer.from(bytes).toString('base64') : undefined;
}

function answerOf(part: vscode.ChatResponseTurn['response'][number]): string {
  return part instanceof vscode.ChatResponseMarkdownPart ? part.value.value : '';
}
