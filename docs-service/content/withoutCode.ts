import { Ends, markdownLines } from './markdownLines.ts';

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
  return blank.replaceAll('\t', '    ').length;
}

/** Removes what is between two marks: runs of equally many backticks, or a tag and its end. */
function withoutInlineCode(text: string): string {
  const marks = /\\.|`+|<!--|<(pre|script|style)\b/gis;
  const ends = new Ends(text);
  let result = '';
  let at = 0;
  for (let mark = marks.exec(text); mark !== null; mark = marks.exec(text)) {
    const [opening, element] = mark;
    if (opening.startsWith('\\') || opening.length > maxMarkLength) continue;
    const from = mark.index + opening.length;
    const end = opening.startsWith('`')
      ? inlineEnd(ends, opening, from)
      : ends.after(element === undefined ? '-->' : `</${element.toLowerCase()}>`, from);
    if (end === undefined || (opening.startsWith('`') && end - from >= maxCodeLength)) continue;
    result += text.slice(at, mark.index) + text.slice(mark.index, end).replace(/[^\n]/g, ' ');
    at = end;
    marks.lastIndex = end;
  }
  return result + text.slice(at);
}

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
  const parts: string[] = [];
  let at = 0;
  opening.lastIndex = 0;
  for (let found = opening.exec(text); found; found = opening.exec(text)) {
    const from = opening.lastIndex;
    const [, fence, ticks, lineStart, comment, name] = found;
    const isCode = fence !== undefined || ticks !== undefined;
    const close = comment ? '-->' : `</${name}\\b[^>\\n]*>`;
    // At the beginning of a line it is a block of HTML, which goes on after an empty line.
    const hiddenEnd = () =>
      lineStart === undefined ? ends.inParagraph(close, from) : (ends.after(close, from) ?? ends.ofText);
    const end = isCode ? codeEnd(ends, fence, ticks ?? '', from) : hiddenEnd();
    if (end === undefined) continue;
    opening.lastIndex = end;
    if (isCode) continue;
    parts.push(text.slice(at, found.index), ' ', text.slice(found.index, end).replace(/[^\n]+/g, ''));
    at = end;
  }
  return parts.join('') + text.slice(at);
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
