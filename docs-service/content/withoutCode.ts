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
      ? ends.inParagraph(`(?<!\`)${opening}(?!\`)`, from)
      : ends.after(element === undefined ? '-->' : `</${element.toLowerCase()}>`, from);
    if (end === undefined || (opening.startsWith('`') && end - from >= maxCodeLength)) continue;
    result += text.slice(at, mark.index) + blanked(text.slice(mark.index, end));
    at = end;
    marks.lastIndex = end;
  }
  return result + text.slice(at);
}

function blanked(text: string): string {
  return text.replace(/[^\n]/g, ' ');
}

/** Longer runs of backticks stay as they are, because each length costs a pass. */
const maxMarkLength = 20;

/** In characters. */
const maxCodeLength = 5_000;
