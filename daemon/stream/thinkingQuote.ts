const opening = '> <details><summary>Thinking</summary>\n>\n> ';
const closing = '\n>\n> </details>\n\n';

/** Turns the alternation of thinking and text into one Markdown text; each call returns what is to be appended now. */
export interface ThinkingQuote {
  thinking(text: string): string;
  text(text: string): string;
  finish(): string;
}

/** Each run of thinking becomes one collapsible block quote before the text that follows it. */
export function createThinkingQuote(): ThinkingQuote {
  let isOpen = false;
  /** Line breaks at the end of what has come: they are written once more follows them. */
  let breaks = '';
  /** What was written last ends a line. */
  let atLineStart = true;

  const close = () => {
    if (!isOpen) return '';
    isOpen = false;
    breaks = '';
    atLineStart = true;
    return closing;
  };
  const open = () => {
    if (isOpen) return '';
    isOpen = true;
    return atLineStart ? opening : `\n\n${opening}`;
  };

  return {
    thinking(text) {
      if (text === '') return '';
      const whole = breaks + text;
      const end = whole.replace(/[\r\n]+$/, '').length;
      breaks = whole.slice(end);
      const shown = whole.slice(0, end).replaceAll('\r\n', '\n').replaceAll('\n', '\n> ');
      return shown === '' && !isOpen ? '' : open() + shown;
    },
    text(text) {
      if (text === '') return '';
      const before = close();
      atLineStart = text.endsWith('\n');
      return before + text;
    },
    finish: close,
  };
}

/**
 * Takes exactly such quotes out of replayed text, and nothing else: what a user or a model quotes by hand stays.
 */
export function stripThinkingQuotes(text: string): string {
  if (!text.includes(opening)) return text;
  const kept: string[] = [];
  let at = 0;
  for (;;) {
    const start = text.indexOf(opening, at);
    if (start < 0) break;
    const end = start === 0 || text[start - 1] === '\n' ? quoteEnd(text, start) : -1;
    kept.push(text.slice(at, end < 0 ? start + opening.length : start));
    at = end < 0 ? start + opening.length : end;
  }
  kept.push(text.slice(at));
  return kept.join('');
}

/** The index after a quote, all of whose lines are quoted; -1 where it is not closed. */
function quoteEnd(text: string, start: number): number {
  let at = start + opening.length;
  for (;;) {
    const newline = text.indexOf('\n', at);
    if (newline < 0) return -1;
    if (text.startsWith(closing, newline)) return newline + closing.length;
    // An editor may have cut the blank line at the end of a message.
    if (text.slice(newline) === closing.trimEnd()) return text.length;
    if (text[newline + 1] !== '>') return -1;
    at = newline + 1;
  }
}
