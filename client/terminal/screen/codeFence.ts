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
