import { Ends } from './markdownLines.ts';

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
    const end = isCode
      ? codeEnd(ends, { fence, ticks, from })
      : hiddenEnd(ends, {
          close: comment ? '-->' : `</${name}\\b[^>\\n]*>`,
          isBlock: lineStart !== undefined,
          from,
        });
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

interface Code {
  readonly fence: string | undefined;
  readonly ticks: string | undefined;
  readonly from: number;
}

function codeEnd(ends: Ends, { fence, ticks = '', from }: Code): number | undefined {
  if (fence !== undefined) {
    const [mark = ''] = fence;
    return (
      ends.after(`^[ \\t>]*${mark}{${Math.min(fence.length, maxMarkLength)},}[ \\t\\r]*$`, from) ??
      ends.ofText
    );
  }
  return ticks.length > maxMarkLength
    ? undefined
    : ends.inParagraph(`(?<!\`)\`{${ticks.length}}(?!\`)`, from);
}

/** Marks of more lengths would be searched more often. */
const maxMarkLength = 10;

interface Hidden {
  /** The pattern of its end. */
  readonly close: string;
  /** It begins a line, and so it is a block of HTML, which goes on after an empty line. */
  readonly isBlock: boolean;
  readonly from: number;
}

function hiddenEnd(ends: Ends, { close, isBlock, from }: Hidden): number | undefined {
  return isBlock ? (ends.after(close, from) ?? ends.ofText) : ends.inParagraph(close, from);
}
