/** What a line, or what is left of it after a quote's or an item's marker, begins with. */
export type BlockStart =
  | { readonly kind: 'text' | 'verbatim' | 'row'; readonly indent: string; readonly rest: string }
  | { readonly kind: 'heading' | 'quote'; readonly rest: string }
  | { readonly kind: 'item'; readonly indent: string; readonly mark: string; readonly rest: string }
  | { readonly kind: 'fence'; readonly indent: string; readonly mark: string; readonly label: string }
  | { readonly kind: 'rule' };

/** The longest beginning of a line that may still become a marker, without and with the label of a fence. */
const longestMarker = 24;
const longestFence = 200;

const rule = /^\s*([-*_])(?:\s*\1){2,}\s*$/;
const fence = /^(\s*)(`{3,}|~{3,})([^`]*)$/;
const undecided =
  /^\s*(?:#{0,6}|[-*+]|\d{1,9}[.)]?|`{1,2}|~{1,2}|>)$|^\s*([-*_])(?:\s*\1)*\s*$|^\s*(?:`{3,}|~{3,})[^`]*$/;

/** Whether further characters can make, or belong to, a marker. */
export function mayBecomeMarker(text: string): boolean {
  const longest = /^\s*(?:```|~~~)/.test(text) ? longestFence : longestMarker;
  return text.length < longest && undecided.test(text);
}

/** Whether the whole of a line is a marker, which its end alone can tell. */
export function readWholeLine(text: string): BlockStart | undefined {
  const [, indent = '', mark, label = ''] = fence.exec(text) ?? [];
  if (mark !== undefined) return { kind: 'fence', indent, mark, label };
  return rule.test(text) ? { kind: 'rule' } : undefined;
}

/** In a list, indented text belongs to its item; elsewhere it is code. */
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

/** Colours code while its lines come. */
export interface CodeColours {
  /** A whole line, without its end, with styles in it that end within it. */
  line(text: string): string;
}

/** Colours for the code of a fence with this label, where its language is known. */
export type ColoursFor = (label: string) => CodeColours | undefined;

/** A fence that is open. */
export interface CodeFence {
  /** Such as three ticks. */
  readonly mark: string;
  /** Blanks before it: as many are not part of the code's lines. */
  readonly indent: number;
  /** Within how many quotes it stands. */
  readonly depth: number;
}

/** What the beginning of a line within a fence is; `undecided` waits for the next character. */
export type CodeStart =
  | { readonly kind: 'undecided' | 'left' | 'closed' }
  | { readonly kind: 'quote' | 'code'; readonly rest: string };

/** How far the line has come: its beginning after `depth` quotes' bars, and whether it ends there. */
export interface CodeLine {
  readonly text: string;
  readonly depth: number;
  readonly isWhole: boolean;
}

export function readCodeStart(fence: CodeFence, line: CodeLine): CodeStart {
  return line.depth < fence.depth ? readQuote(line) : readCode(fence, line);
}

/** A line without the quote's bar leaves the quote and the fence with it. */
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
