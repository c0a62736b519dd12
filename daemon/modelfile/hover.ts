import type { Hover, MarkupKind, Position } from 'vscode-languageserver/node';
import type { TextDocument } from 'vscode-languageserver-textdocument';
import { toMarkup } from './markup.ts';
import { type Command, parseModelfile, type Span } from './parser.ts';
import { commandWords, parameterWords } from './vocabulary.ts';

/** Explains the command or the parameter under the cursor. */
export function hoverAt(document: TextDocument, position: Position, format: MarkupKind): Hover | undefined {
  const offset = document.offsetAt(position);
  const { commands } = parseModelfile(document.getText());
  const command = commands.find((candidate) => isIn(candidate, offset));
  const found = command && aboutAt(command, offset);
  if (!found) return undefined;
  const { start, end } = found.span;
  return {
    contents: toMarkup(found.about, format),
    range: { start: document.positionAt(start), end: document.positionAt(end) },
  };
}

function aboutAt(command: Command, offset: number): { span: Span; about: string } | undefined {
  const { name, word, args } = command;
  const [first] = args;
  if (isIn(word, offset)) {
    const about = commandWords.get(name)?.about;
    return about === undefined ? undefined : { span: word, about: `**${name.toUpperCase()}** ${about}` };
  }
  if (name !== 'parameter' || !isIn(first, offset)) return undefined;
  const known = parameterWords.get(first.text);
  return known && { span: first, about: `**${first.text}** (${known.type}) ${known.about}` };
}

function isIn({ start, end }: Span, offset: number): boolean {
  return offset >= start && offset <= end;
}
