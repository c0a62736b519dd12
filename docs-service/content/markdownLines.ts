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
function columnsOf(blank: string): number {
  return blank.replaceAll('\t', '    ').length;
}

/** Finds the next place of each pattern, and remembers it until the search is past it. */
export class Ends {
  readonly #next = new Map<string, { readonly start: number; readonly end: number }>();

  constructor(private readonly text: string) {}

  get ofText(): number {
    return this.text.length;
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
    const found = search.exec(this.text);
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

/**
 * A Markdown text with spaces in place of its code, its comments and its scripts, so that every character stays in its
 * place and what looks like a link is one. It is read line by line in linear time, not by a parser.
 */
export function withoutCode(text: string, { hasIndentedCode = true } = {}): string {
  return withoutInlineCode(withoutCodeLines(text, hasIndentedCode));
}

/** Fences, and indented lines that are not part of a list item. */
function withoutCodeLines(text: string, hasIndentedCode: boolean): string {
  const lines: string[] = [];
  /** Where the text of the list item begins, in columns. */
  let item = 0;
  let mayBeCode = true;
  for (const { start, end, fence } of markdownLines(text)) {
    const line = text.slice(start, end);
    const indent = indentOf(line);
    const isBlank = line.trim() === '';
    const isCode = fence !== undefined || (hasIndentedCode && !isBlank && mayBeCode && indent >= item + 4);
    lines.push(isCode ? ' '.repeat(line.length) : line);
    if (isBlank || isCode) {
      mayBeCode = true;
      continue;
    }
    const [marker] = /^[ \t]*(?:[-*+]|\d{1,9}[.)])[ \t]+/.exec(line) ?? [];
    if (marker !== undefined) item = indentOf(marker) + marker.trim().length + 1;
    else if (indent < item && mayBeCode) item = Math.min(item, indent);
    mayBeCode = false;
  }
  return lines.join('\n');
}

function indentOf(line: string): number {
  const [blank = ''] = /^[ \t]*/.exec(line) ?? [];
  return columnsOf(blank);
}

/** Removes what is between two marks: runs of equally many backticks, or a tag and its end. */
function withoutInlineCode(text: string): string {
  const ends = new Ends(text);
  return replaceParts(text, marks, ({ 0: opening, 1: element, index }) => {
    if (opening.startsWith('\\') || opening.length > maxMarkLength) return undefined;
    const from = index + opening.length;
    const end = opening.startsWith('`')
      ? inlineEnd(ends, opening, from)
      : ends.after(element === undefined ? '-->' : `</${element.toLowerCase()}>`, from);
    if (end === undefined || (opening.startsWith('`') && end - from >= maxCodeLength)) return undefined;
    return { end, text: text.slice(index, end).replace(/[^\n]/g, ' ') };
  });
}

const marks = /\\.|`+|<!--|<(pre|script|style)\b/gis;

function inlineEnd(ends: Ends, ticks: string, from: number): number | undefined {
  return ends.inParagraph(`(?<!\`)${ticks}(?!\`)`, from);
}

/** Longer runs of backticks stay as they are, because each length costs a pass. */
const maxMarkLength = 20;

/** In characters. */
const maxCodeLength = 5_000;

/**
 * A Markdown text without scripts, styles and comments, because no reader sees them. Their line ends stay, and so does
 * code. It takes one pass: a part that was searched for an end is not searched again.
 */
export function withoutScripts(text: string): string {
  if (!/<(?:!--|[a-z])/i.test(text)) return text;
  const ends = new Ends(text);
  return replaceParts(
    text,
    opening,
    ({ 0: found, 1: fence, 2: ticks, 3: lineStart, 4: comment, 5: name, index }) => {
      const from = index + found.length;
      const isCode = fence !== undefined || ticks !== undefined;
      const close = comment ? '-->' : `</${name}\\b[^>\\n]*>`;
      // At the beginning of a line it is a block of HTML, which goes on after an empty line.
      const hiddenEnd = () =>
        lineStart === undefined ? ends.inParagraph(close, from) : (ends.after(close, from) ?? ends.ofText);
      const end = isCode ? codeEnd(ends, fence, ticks ?? '', from) : hiddenEnd();
      if (end === undefined) return undefined;
      const part = text.slice(index, end);
      return { end, text: isCode ? part : ` ${part.replace(/[^\n]+/g, '')}` };
    },
  );
}

/** The beginning of a fence, of code in a line, of a comment, or of an element whose text is not shown. */
const opening =
  /^[ \t>]*(?:[-*+][ \t]+)?(?:\d{1,9}[.)][ \t]+)?(`{3,}(?![^\n]*`)|~{3,})|(`+)|(?:(^ {0,3})|)(?<!\\)<(?:(!--)|(script|style|textarea|title|xmp|iframe|noembed|noframes|noscript)\b)/gim;

function codeEnd(ends: Ends, fence: string | undefined, ticks: string, from: number): number | undefined {
  if (fence === undefined) return ticks.length > maxMarks ? undefined : inlineEnd(ends, ticks, from);
  const marks = `${fence[0]}{${Math.min(fence.length, maxMarks)},}`;
  return ends.after(`^[ \\t>]*${marks}[ \\t\\r]*$`, from) ?? ends.ofText;
}

/** Marks of more lengths would be searched more often. */
const maxMarks = 10;
