/** How a line begins, or the rest of a line after the marker of a quote or an item. */
export type BlockStart =
  | { readonly kind: 'text' | 'verbatim' | 'row'; readonly indent: string; readonly rest: string }
  | { readonly kind: 'heading' | 'quote'; readonly rest: string }
  | { readonly kind: 'item'; readonly indent: string; readonly mark: string; readonly rest: string }
  | { readonly kind: 'fence'; readonly indent: string; readonly mark: string; readonly label: string }
  | { readonly kind: 'rule' };

/** The longest beginning that may still become a marker, without and with the label of a fence. */
const maxMarkerLength = 24;
const maxFenceLength = 200;

const rule = /^\s*([-*_])(?:\s*\1){2,}\s*$/;
const fence = /^(\s*)(`{3,}|~{3,})([^`]*)$/;
const undecided =
  /^\s*(?:#{0,6}|[-*+]|\d{1,9}[.)]?|`{1,2}|~{1,2}|>)$|^\s*([-*_])(?:\s*\1)*\s*$|^\s*(?:`{3,}|~{3,})[^`]*$/;

/** Whether more characters can make the text a marker, or belong to one. */
export function mayBecomeMarker(text: string): boolean {
  const longest = /^\s*(?:```|~~~)/.test(text) ? maxFenceLength : maxMarkerLength;
  return text.length < longest && undecided.test(text);
}

/** The marker that a whole line is, if it is one. */
export function readWholeLine(text: string): BlockStart | undefined {
  const [, indent = '', mark, label = ''] = fence.exec(text) ?? [];
  if (mark !== undefined) return { kind: 'fence', indent, mark, label };
  return rule.test(text) ? { kind: 'rule' } : undefined;
}

/** Indented text belongs to the item in a list, and is code elsewhere. */
export function readBlockStart(text: string, isInList: boolean): BlockStart {
  const [, indent = '', body = ''] = /^(\s*)(.*)$/s.exec(text) ?? [];
  const item = /^([-*+]|\d{1,9}[.)]) (.*)$/s.exec(body);
  if (item) return { kind: 'item', indent, mark: item[1] ?? '', rest: item[2] ?? '' };
  if (!isInList && /^(?: {4}|\t)/.test(text)) return { kind: 'verbatim', indent, rest: body };
  const heading = /^#{1,6} (.*)$/s.exec(body);
  if (heading) return { kind: 'heading', rest: heading[1] ?? '' };
  const quote = /^> ?(.*)$/s.exec(body);
  if (quote) return { kind: 'quote', rest: quote[1] ?? '' };
  return { kind: body.startsWith('|') ? 'row' : 'text', indent, rest: body };
}

/** Colours code line by line. */
export interface CodeColours {
  /** Takes a whole line without its line feed. Each style in the result ends within the line. */
  line(text: string): string;
}

/** Colours for the code of a fence with this label, if its language is known. */
export type ColoursFor = (label: string) => CodeColours | undefined;

/** A fence that is open. */
export interface CodeFence {
  /** Such as three backticks. */
  readonly mark: string;
  /** Blanks before it. As many are removed from each line of code. */
  readonly indent: number;
  /** The number of quotes around it. */
  readonly depth: number;
}

/** How a line inside a fence begins. `undecided` waits for the next character. */
export type CodeStart =
  | { readonly kind: 'undecided' | 'left' | 'closed' }
  | { readonly kind: 'quote' | 'code'; readonly rest: string };

/** The beginning of a line after `depth` quote bars, and whether the line ends there. */
export interface CodeLine {
  readonly text: string;
  readonly depth: number;
  readonly isWhole: boolean;
}

export function readCodeStart(fence: CodeFence, line: CodeLine): CodeStart {
  return line.depth < fence.depth ? readQuote(line) : readCode(fence, line);
}

/** A line without the quote bar leaves the quote, and the fence with it. */
function readQuote({ text, isWhole }: CodeLine): CodeStart {
  const quote = /^\s*>( ?)(.*)$/s.exec(text);
  if (quote) {
    const [, blank = '', rest = ''] = quote;
    if (blank === '' && rest === '' && !isWhole) return { kind: 'undecided' };
    return { kind: 'quote', rest };
  }
  return !isWhole && /^\s{0,3}$/.test(text) ? { kind: 'undecided' } : { kind: 'left' };
}

function readCode({ mark, indent }: CodeFence, { text, isWhole }: CodeLine): CodeStart {
  const body = text.trimStart();
  const blanks = text.length - body.length;
  const run = body.trimEnd();
  const isRun = run === (mark[0] ?? '').repeat(run.length);
  if (isWhole && isRun && run.length >= mark.length) return { kind: 'closed' };
  if (!isWhole && isRun && blanks <= indent + 3 && text.length < indent + mark.length + 20)
    return { kind: 'undecided' };
  return { kind: 'code', rest: text.slice(Math.min(blanks, indent)) };
}
