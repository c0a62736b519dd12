import * as vscode from 'vscode';
import { createReadOnlyPage } from '../readOnlyPage.ts';
import { cut, toQuote } from './quotedText.ts';

const command = 'runner.showThinking';

/** The characters of a model's thinking that are kept in the history of the chat. */
const most = 20_000;

/** The page behind the line that says how long a model thought: the stable API of the chat cannot fold text. */
export function registerThoughts(): vscode.Disposable {
  let shown = '';
  const page = createReadOnlyPage({ scheme: 'runner-thinking', title: 'Thinking' }, async () => shown);
  return vscode.Disposable.from(
    page,
    vscode.commands.registerCommand(command, async (thought: unknown) => {
      shown = typeof thought === 'string' ? thought : '';
      await page.show();
    }),
  );
}

/** The characters that are shown above the answer. More would push it out of sight; the page has up to {@link most}. */
const mostInPlace = 1_500;

/** The line that opens the page. */
export function toThoughtLine(thought: string, seconds: number): vscode.MarkdownString {
  const time = seconds < 1 ? 'a moment' : `${Math.round(seconds)} s`;
  const kept = thought.length > most ? `${cut(thought, most)}\n\n(cut)` : thought;
  // A parenthesis would end the link, and the thinking would be read as Markdown.
  const argument = encodeURIComponent(JSON.stringify([`${kept.trim()}\n`])).replace(
    /[()]/g,
    (mark) => `%${mark.charCodeAt(0).toString(16)}`,
  );
  const line = new vscode.MarkdownString(
    `[$(lightbulb) Thought for ${time}](command:${command}?${argument})\n\n`,
    true,
  );
  line.isTrusted = { enabledCommands: [command] };
  return line;
}

/** The thinking itself, above the answer: a block quote, in which no link runs a command. */
export function toThoughtQuote(thought: string): vscode.MarkdownString {
  // The icons mark it as ours, so that it is not sent back to the model.
  return new vscode.MarkdownString(`${toQuote(thought, mostInPlace)}\n\n`, true);
}
