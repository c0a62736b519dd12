/**
 * The lines of a Markdown text and their code fences, in one pass. A fence may be inside a list or a quote, and one
 * that is never closed reaches to the end. The line break is behind the end of a line. `fence` is the code fence that
 * the line belongs to, first and last line included; the fences are counted from 0.
 */
export function* markdownLines(text: string) {
  let fence = -1;
  let open: Fence | undefined;
  for (let start = 0; start <= text.length; ) {
    const newline = text.indexOf('\n', start);
    const end = newline < 0 ? text.length : newline;
    const line = text.slice(start, Math.min(end, start + maxMarkerLength));
    const opened: Fence | undefined = open === undefined ? tryOpeningFence(line) : undefined;
    if (opened) fence++;
    yield { start, end, fence: opened || open ? fence : undefined };
    if (opened) open = opened;
    else if (open !== undefined && closesFence(line, open)) open = undefined;
    start = end + 1;
  }
}

const maxMarkerLength = 300;

export interface Fence {
  readonly marks: string;
  /** How far they are from the beginning of their line. A tab counts as four. */
  readonly column: number;
}

/** The fence that a line opens, after the marks of quotes and lists around it. */
export function tryOpeningFence(line: string): Fence | undefined {
  if (!line.includes('```') && !line.includes('~~~')) return undefined;
  const [, before = '', marks, rest = ''] =
    /^((?:[ \t]*(?:>|(?:[-*+]|\d{1,9}[.)])(?=[ \t]))){0,10}[ \t]*)(`{3,}|~{3,})(.*)$/s.exec(line) ?? [];
  // The text after opening backticks contains none itself; otherwise it is inline code.
  if (marks === undefined || (marks.startsWith('`') && rest.includes('`'))) return undefined;
  return { marks, column: columnsOf(before) };
}

/** Whether a line closes a fence. One that is further to the right is a line of the code, as in CommonMark. */
export function closesFence(line: string, { marks, column }: Fence): boolean {
  const [, before = '', found] = /^([ \t>]*)(`{3,}|~{3,})[ \t\r]*$/.exec(line) ?? [];
  if (found === undefined) return false;
  return found[0] === marks[0] && found.length >= marks.length && columnsOf(before) <= column + 3;
}

/** A tab counts as four. */
export function columnsOf(blank: string): number {
  return blank.replaceAll('\t', '    ').length;
}

/** Finds the next place of each pattern, and remembers it until the search is past it. */
export class Ends {
  readonly #text: string;
  readonly #next = new Map<string, { readonly start: number; readonly end: number }>();

  constructor(text: string) {
    this.#text = text;
  }

  get ofText(): number {
    return this.#text.length;
  }

  /** Where the next match ends; undefined if there is none. */
  after(pattern: string, from: number): number | undefined {
    const { start, end } = this.#find(pattern, from);
    return start === Number.POSITIVE_INFINITY ? undefined : end;
  }

  /** The same, if there is no empty line before it. */
  inParagraph(pattern: string, from: number): number | undefined {
    const { start, end } = this.#find(pattern, from);
    return start < this.#find('\\n[ \\t]*\\n', from).start ? end : undefined;
  }

  #find(pattern: string, from: number): { readonly start: number; readonly end: number } {
    const known = this.#next.get(pattern);
    if (known && known.start >= from) return known;
    const search = new RegExp(pattern, 'gim');
    search.lastIndex = from;
    const found = search.exec(this.#text);
    const start = found?.index ?? Number.POSITIVE_INFINITY;
    const place = { start, end: start + (found?.[0].length ?? 0) };
    this.#next.set(pattern, place);
    return place;
  }
}

/**
 * The text with parts of it replaced, in one pass.
 * @param starts global: what may begin a part
 * @param replacementAt what stands in place of the text from a match to `end`, where the search goes on; undefined if
 *   the match begins nothing
 * @param searched of the same length as the text, such as without its code
 */
export function replaceParts(
  text: string,
  starts: RegExp,
  replacementAt: (found: RegExpExecArray) => Replacement | undefined,
  searched = text,
): string {
  const out: string[] = [];
  let at = 0;
  starts.lastIndex = 0;
  for (let found = starts.exec(searched); found !== null; found = starts.exec(searched)) {
    const replacement = replacementAt(found);
    if (replacement === undefined) continue;
    out.push(text.slice(at, found.index), replacement.text);
    at = replacement.end;
    starts.lastIndex = at;
  }
  return out.join('') + text.slice(at);
}

export interface Replacement {
  readonly end: number;
  readonly text: string;
}
