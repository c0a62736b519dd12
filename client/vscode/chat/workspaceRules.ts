import * as vscode from 'vscode';
import { cutText } from '../../../protocol/base/text.ts';
import type { Attachment } from '../../../protocol/messages/chat.ts';
import { areRulesSent } from '../settings.ts';
import { isBinary } from './attachments.ts';

/** In this order. Each counts where it is there. */
const names = ['AGENTS.md', '.github/copilot-instructions.md'];
/** What all of them may fill of a window, and at most, in tokens; and about how many characters a token has. */
const partOfWindow = 1 / 16;
const maxTokens = 2_048;
const charactersOfToken = 3.5;

/** The files in which the first folder of a trusted workspace says how models should work, if the user wants that. */
export async function rulesOfWorkspace(window: number): Promise<readonly Attachment[]> {
  const [folder] = vscode.workspace.workspaceFolders ?? [];
  if (!folder || !areRulesSent() || !vscode.workspace.isTrusted) return [];
  const room = Math.floor(Math.min(maxTokens, window * partOfWindow) * charactersOfToken);
  const read = await Promise.all(
    names.map(async (path) => {
      const uri = vscode.Uri.joinPath(folder.uri, ...path.split('/'));
      return { path, uri: uri.toString(), text: await textOf(uri) };
    }),
  );
  const files = read.filter(({ text }) => text !== '');
  return files.map(({ path, uri, text }) => {
    // Each has an equal share, and what the other leaves of its own.
    const others = files.reduce((sum, other) => sum + (other.path === path ? 0 : other.text.length), 0);
    const own = Math.max(Math.floor(room / files.length), room - others);
    const kept = text.length > own ? `${cutText(text, own)}\n[The rest is left out.]` : text;
    // Nobody has named it: what the user excludes is not sent.
    return { path, text: kept, uris: [uri], automatic: true };
  });
}

/** Empty if there is none, or it is no text. */
async function textOf(uri: vscode.Uri): Promise<string> {
  try {
    const text = Buffer.from(await vscode.workspace.fs.readFile(uri)).toString('utf8');
    return isBinary(text) ? '' : text.trim();
  } catch {
    return '';
  }
}
