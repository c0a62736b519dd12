import type {
  ClientCapabilities,
  CompletionItem,
  Hover,
  MarkupContent,
  MarkupKind,
  Position,
} from 'vscode-languageserver/node';
import type { TextDocument } from 'vscode-languageserver-textdocument';
import { CompletionItemKind } from '../rpc/languageServer.ts';
import { type Instruction, parseModelfile, type Span } from './parser.ts';
import { commandWords, messageRoles, parameterWords } from './vocabulary.ts';

/** Explains the command or the parameter under the cursor. */
export function hoverAt(
  document: TextDocument,
  position: Position,
  format: MarkupKind | undefined,
): Hover | undefined {
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

function aboutAt(command: Instruction, offset: number): { span: Span; about: string } | undefined {
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

interface CompletionSources {
  /** Returns the names of the installed models. It is called only where they fit. */
  readonly installed: () => Promise<readonly string[]>;
  readonly format: MarkupKind | undefined;
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
  if (/^\s*parameter[ \t]+use_mmap[ \t]+\w*$/i.test(before)) return choices(['true', 'false']);
  if (/^\s*message[ \t]+\w*$/i.test(before)) return choices(messageRoles, ' ');
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

function commandItems(format: MarkupKind | undefined): readonly CompletionItem[] {
  return [...commandWords].map(([name, { about }]) => ({
    label: name.toUpperCase(),
    kind: CompletionItemKind.Keyword,
    insertText: `${name.toUpperCase()} `,
    // Lower-case input matches too.
    filterText: name,
    documentation: toMarkup(about, format),
  }));
}

function parameterItems(format: MarkupKind | undefined): readonly CompletionItem[] {
  return [...parameterWords].map(([name, { type, about }]) => ({
    label: name,
    kind: CompletionItemKind.Property,
    detail: type,
    insertText: `${name} `,
    documentation: toMarkup(about, format),
  }));
}

/**
 * What ends a line has no space behind it: an editor that accepts on Enter would insert that space instead of beginning
 * the next line.
 */
function choices(labels: readonly string[], behind = ''): readonly CompletionItem[] {
  return labels.map((label) => ({
    label,
    kind: CompletionItemKind.EnumMember,
    insertText: `${label}${behind}`,
  }));
}

function modelItems(names: readonly string[]): readonly CompletionItem[] {
  return names.map((label) => ({ label, kind: CompletionItemKind.Reference }));
}

/** The formats in which an editor shows explanations; plain text if it announced none. */
interface MarkupFormats {
  readonly hover: MarkupKind | undefined;
  readonly documentation: MarkupKind | undefined;
}

/** The first format that the editor announced, which is the one that it prefers. */
export function markupFormats({ textDocument }: ClientCapabilities): MarkupFormats {
  return {
    hover: textDocument?.hover?.contentFormat?.[0],
    documentation: textDocument?.completion?.completionItem?.documentationFormat?.[0],
  };
}

/** Converts our own Markdown, which has only bold words and code. */
function toMarkup(markdown: string, kind: MarkupKind | undefined): MarkupContent {
  return kind === 'markdown'
    ? { kind, value: markdown }
    : { kind: 'plaintext', value: markdown.replaceAll('**', '').replaceAll('`', '') };
}
