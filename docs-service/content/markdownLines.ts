export interface MarkdownLine {
  readonly start: number;
  /** Where its characters end, before the line break. */
  readonly end: number;
  /** The code fence that it belongs to, first and last line included; the fences are counted from 0. */
  readonly fence: number | undefined;
}

/**
 * The lines of a Markdown text and their code fences, in one pass. A fence may be inside a list or a quote, and one
 * that is never closed reaches to the end.
 */
export function* markdownLines(text: string): Generator<MarkdownLine> {
  let fence = -1;
  let open: string | undefined;
  for (let start = 0; start <= text.length; ) {
    const newline = text.indexOf('\n', start);
    const end = newline < 0 ? text.length : newline;
    const marker = tryFenceMarker(
      text.slice(start, Math.min(end, start + maxMarkerLength)),
      open !== undefined,
    );
    const opens = open === undefined && marker !== undefined;
    if (opens) fence++;
    yield { start, end, fence: opens || open !== undefined ? fence : undefined };
    if (opens) open = marker;
    else if (open !== undefined && marker !== undefined && closesFence(marker, open)) open = undefined;
    start = end + 1;
  }
}

/** Only this much of a line is examined: a fence begins early in its line. */
const maxMarkerLength = 300;

/** The backticks or tildes that a line begins with, after the marks of quotes and lists around it. */
export function tryFenceMarker(line: string, inFence: boolean): string | undefined {
  const found = (
    inFence
      ? /^[ \t>]*(`{3,}|~{3,})[ \t\r]*$/
      : /^[ \t>]*(?:[-*+][ \t]+)?(?:\d{1,9}[.)][ \t]+)?(`{3,}|~{3,})(.*)$/s
  ).exec(line);
  // The text after opening backticks contains none itself; otherwise it is inline code.
  return found?.[1] === undefined || (found[1].startsWith('`') && found[2]?.includes('`'))
    ? undefined
    : found[1];
}

export function closesFence(marker: string, open: string): boolean {
  return marker[0] === open[0] && marker.length >= open.length;
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
