import { columnsOf, Ends, markdownLines, replaceParts } from './markdownLines.ts';

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
