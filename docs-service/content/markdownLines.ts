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
    else if (open !== undefined && marker !== undefined && closes(marker, open)) open = undefined;
    start = end + 1;
  }
}

/** Only this much of a line is examined: a fence begins early in its line. */
const maxMarkerLength = 300;

/** The backticks or tildes that a line begins with, after the marks of quotes and lists around it. */
function tryFenceMarker(line: string, inFence: boolean): string | undefined {
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

function closes(marker: string, open: string): boolean {
  return marker[0] === open[0] && marker.length >= open.length;
}
