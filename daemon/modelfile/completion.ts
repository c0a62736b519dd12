import type { CompletionItem, MarkupKind, Position } from 'vscode-languageserver/node';
import type { TextDocument } from 'vscode-languageserver-textdocument';
import { CompletionItemKind } from '../rpc/languageServer.ts';
import { toMarkup } from './markup.ts';
import { parseModelfile } from './parser.ts';
import { commandWords, messageRoles, parameterWords } from './vocabulary.ts';

export interface CompletionSources {
  /** Returns the names of the installed models. It is called only where they fit. */
  readonly installed: () => Promise<readonly string[]>;
  readonly format: MarkupKind;
}

/** What the user could type at a position. */
export async function completionsAt(
  document: TextDocument,
  position: Position,
  { installed, format }: CompletionSources,
): Promise<readonly CompletionItem[]> {
  const before = document.getText({ start: { line: position.line, character: 0 }, end: position });
  if (isInsideOfValue(document, position)) return [];
  if (/^\s*[a-z]*$/i.test(before)) return commandItems(format);
  if (/^\s*parameter[ \t]+\w*$/i.test(before)) return parameterItems(format);
  if (/^\s*parameter[ \t]+use_mmap[ \t]+\w*$/i.test(before)) return words(['true', 'false']);
  if (/^\s*message[ \t]+\w*$/i.test(before)) return words(messageRoles);
  if (/^\s*from[ \t]+\S*$/i.test(before)) return modelItems(await installed());
  return [];
}

/** A value between quotes may span several lines, and nothing in it is a command. */
function isInsideOfValue(document: TextDocument, position: Position): boolean {
  const lineStart = document.offsetAt({ line: position.line, character: 0 });
  const { commands, isCut } = parseModelfile(
    document.getText({ start: { line: 0, character: 0 }, end: position }),
  );
  const last = commands.at(-1);
  return isCut || (last !== undefined && last.start < lineStart && last.end > lineStart);
}

function commandItems(format: MarkupKind): readonly CompletionItem[] {
  return [...commandWords].map(([name, { about }]) => ({
    label: name.toUpperCase(),
    kind: CompletionItemKind.Keyword,
    insertText: `${name.toUpperCase()} `,
    // Lower-case input matches too.
    filterText: name,
    documentation: toMarkup(about, format),
  }));
}

function parameterItems(format: MarkupKind): readonly CompletionItem[] {
  return [...parameterWords].map(([name, { type, about }]) => ({
    label: name,
    kind: CompletionItemKind.Property,
    detail: type,
    insertText: `${name} `,
    documentation: toMarkup(about, format),
  }));
}

function words(labels: readonly string[]): readonly CompletionItem[] {
  return labels.map((label) => ({ label, kind: CompletionItemKind.EnumMember, insertText: `${label} ` }));
}

function modelItems(names: readonly string[]): readonly CompletionItem[] {
  return names.map((label) => ({ label, kind: CompletionItemKind.Reference }));
}
