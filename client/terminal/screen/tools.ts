import { count, cutText, showControls, showLine } from '../../../protocol/base/text.ts';
import type { FileDiff, ToolCall, ToolResult } from '../../../protocol/messages/chat.ts';
import { builtinServer, type ListedToolServer } from '../../../protocol/messages/tools.ts';
import { columnsOf, cutTo, formatTable } from './columns.ts';
import type { Output, Style } from './output.ts';
import { wrapText } from './wordWrap.ts';

/** How many lines of a result are shown, and how many characters of each are read for that. */
const maxLines = 4;
const maxLineRead = 1_000;
/** How many characters of a call its line shows, and how many of its arguments a question about it shows. */
const maxCall = 500;
const maxArgumentsShown = 4_000;

export function describeCall(call: ToolCall): string {
  return cutAndCounted(lineOfCall(call), maxCall);
}

/** How many characters a question or a result shows of the first argument of its call. */
const maxArgument = 60;

/** The argument that a call is about: its path, or the first one. Empty if it has none. */
export function mainArgument({ name, arguments: given }: ToolCall): string {
  const value = (name === 'run_check' ? given['name'] : given['path']) ?? Object.values(given)[0] ?? '';
  const text = typeof value === 'string' ? value : JSON.stringify(value);
  return showLine(text.length > maxArgument ? `${cutText(text, maxArgument)}…` : text);
}

/** Names the calls of an answer at their results, unless a result stands right below its call. */
export function createCallLines() {
  const calls = new Map<string, ToolCall>();
  let last: string | undefined;
  return {
    call(call: ToolCall): string {
      calls.set(call.id, call);
      last = call.id;
      return describeCall(call);
    },
    result(result: ToolResult, width: number): readonly string[] {
      const call = last === result.id ? undefined : calls.get(result.id);
      last = undefined;
      const named = call ? [cutTo(showLine(`${call.name} ${mainArgument(call)}`.trim()), width - 1)] : [];
      return [...named, ...describeResult(result, width)];
    },
  };
}

/** Whether {@link describeCall} leaves something out. */
export function isCallCut(call: ToolCall): boolean {
  return isEdit(call) || lineOfCall(call).length > maxCall;
}

function lineOfCall(call: ToolCall): string {
  const { name, arguments: given } = call;
  const shown = isEdit(call) ? `${given['path']}${extentOf(given)}` : JSON.stringify(given);
  return showLine(`tool call: ${name} ${shown}`);
}

/** The texts of edits are hard to read as JSON, and the question shows them. */
function isEdit(call: ToolCall): boolean {
  const {
    path,
    edits,
    old_string: old,
    new_string: wanted,
    content,
    replace_all: _,
    ...rest
  } = call.arguments;
  const areTexts = typeof old === 'string' && typeof wanted === 'string';
  const isWhole = typeof content === 'string' && call.name === 'write_file';
  const hasTexts = Array.isArray(edits) || areTexts || isWhole;
  return typeof path === 'string' && hasTexts && Object.keys(rest).length === 0;
}

function extentOf({ edits, content, replace_all: isEverywhere }: ToolCall['arguments']): string {
  if (isEverywhere === true) return ' (wherever it occurs)';
  if (Array.isArray(edits)) return ` (${count(edits.length, 'edit')})`;
  return typeof content === 'string' ? ` (${count(content.trimEnd().split('\n').length, 'line')})` : '';
}

/** The arguments of a call, each in a line of its own. */
export function describeArguments({ arguments: given }: ToolCall): string {
  const lines = Object.entries(given).map(([name, value]) =>
    showLine(`  ${JSON.stringify(name)}: ${JSON.stringify(value)}`),
  );
  return cutAndCounted(lines.join('\n'), maxArgumentsShown);
}

function cutAndCounted(text: string, limit: number): string {
  const kept = cutText(text, limit);
  const left = text.length - kept.length;
  return left === 0 ? text : `${kept}… ${left} more ${left === 1 ? 'character' : 'characters'}`;
}

/** The first lines of a result. What a call that was not allowed says is meant for the model. */
function describeResult(result: ToolResult, width: number): readonly string[] {
  const { name, content, isError, server, unapprovedTool } = result;
  if (unapprovedTool !== undefined)
    return [`  it was not run. To allow it: --allow ${shellWord(`${server}/${unapprovedTool}`)}`];
  const all = content.trim().split('\n');
  // A check says first how it ended, and at its end why.
  const isCheck = server === builtinServer && name === 'run_check' && !isError;
  const [first, last] = isCheck ? [1, maxLines - 1] : [maxLines, 0];
  const shown = (lines: readonly string[]) =>
    lines.map((line) => cutTo(`  ${showLine(line.slice(0, maxLineRead))}`, Math.max(10, width - 1)));
  const left = all.length - first - last;
  return [
    ...(isError ? ['  it failed:'] : []),
    ...shown(all.slice(0, first)),
    ...(left > 0 ? [`  … ${left} more ${left === 1 ? 'line' : 'lines'}`] : []),
    ...(last === 0 ? [] : shown(all.slice(first).slice(-last))),
  ];
}

/** In quotes if a shell would read more than one word. */
function shellWord(text: string): string {
  const shown = showLine(text);
  return /^[\w./:@-]+$/.test(shown) ? shown : `'${shown.replaceAll("'", "'\\''")}'`;
}

/** A row for each tool. Below the table, why a server failed. */
export function toolsTable(
  servers: readonly ListedToolServer[],
  output: Output,
  isOn?: (server: string) => boolean,
): string {
  const rows = servers.flatMap(({ name, state: found, needsLogin, tools }) => {
    const state = needsLogin ? 'needs login' : found;
    const is = state !== 'ready' ? state : isOn === undefined ? state : isOn(name) ? 'on' : 'off';
    const first = [showLine(name), is];
    if (tools.length === 0) return [first];
    return tools.map((tool, index) => [
      ...(index === 0 ? first : ['', '']),
      showLine(tool.name),
      cutTo(showLine(tool.description.split('\n')[0] ?? ''), 70),
    ]);
  });
  const faults = servers.flatMap(({ message = '' }) => (message === '' ? [] : [`${showLine(message)}\n`]));
  const below = faults.length === 0 ? '' : `\n${wrapText(faults.join(''), output.width)}`;
  return formatTable(['SERVER', 'STATE', 'TOOL', 'WHAT IT DOES'], rows, output) + below;
}

/** How many rows of the screen a folded change takes, and how many characters of one line it shows. */
const maxRows = 40;
const maxLine = 500;
/** The width of a tab, as most editors have it for code. */
const tabWidth = 4;

/**
 * The change of a file as coloured lines, each with its sign, and whether something is left out. Control characters are
 * made visible. Unless it is `whole`, a long change is folded, and so are long lines.
 */
export function describeDiff(
  { name, before, unified }: FileDiff,
  { style, width }: Pick<Output, 'style' | 'width'>,
  whole = false,
) {
  const lines = unified.split('\n').slice(0, -1);
  const title = `${showLine(name)}${before === undefined ? ' (new file)' : ''}`;
  const shown: string[] = [style.bold(title)];
  let isFolded = false;
  let rows = 0;
  for (const [index, line] of lines.entries()) {
    const plain = plainLine(line, whole);
    rows += Math.max(1, Math.ceil(columnsOf(plain.text) / width));
    if (!whole && rows > maxRows && index > 0) {
      shown.push(style.dim(`… ${count(lines.length - index, 'more line')}`));
      return { text: shown.join('\n'), isFolded: true };
    }
    isFolded ||= plain.isCut;
    shown.push(coloured(plain.text, style));
  }
  return { text: shown.join('\n'), isFolded };
}

function plainLine(line: string, whole: boolean): { readonly text: string; readonly isCut: boolean } {
  const kept = whole ? line : cutText(line, maxLine);
  const text = withoutTabs(showControls(kept.replace(/\r$/, '')));
  const left = line.length - kept.length;
  return left === 0
    ? { text, isCut: false }
    : { text: `${text}… ${count(left, 'more character')}`, isCut: true };
}

/** Blanks up to the next stop. The first column has the sign, and does not count. */
function withoutTabs(line: string): string {
  if (!line.includes('\t')) return line;
  let [text, column] = ['', -1];
  for (const piece of line.split(/(\t)/)) {
    const blanks = piece === '\t' ? ' '.repeat(tabWidth - (column % tabWidth)) : piece;
    text += blanks;
    column += columnsOf(blanks);
  }
  return text;
}

function coloured(line: string, style: Style): string {
  if (line.startsWith('+')) return style.green(line);
  if (line.startsWith('-')) return style.red(line);
  return line.startsWith('@@') ? style.cyan(line) : line.startsWith('\\') ? style.dim(line) : line;
}
