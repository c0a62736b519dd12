import { attributeIn, cleanId } from '../headings.ts';
import type { Dialect, Line } from './dialect.ts';

/** In lines, and in UTF-16 units. A longer element is no heading. */
const maxLines = 20;
const maxLength = 2_000;

const opening = /^[ \t]*<h([1-6])(?:\s[^<>]*)?>/i;
const heading = /^[ \t]*<h([1-6])((?:\s[^<>]*)?)>([\s\S]*)<\/h\1\s*>[ \t]*$/i;

/**
 * The lines of a text with headings of HTML as those of Markdown, so that they title their pages and stand in the
 * contents. One of pictures alone stays as it is.
 */
export function withPlainHeadings(lines: readonly Line[], dialect: Dialect): readonly Line[] {
  const text = lines.map((one) => one.text).join('\n');
  if (!/^[ \t]*<h[1-6][\s>]/im.test(text)) return lines;
  const prose = dialect.proseOf(text).split('\n');
  const out: Line[] = [];
  for (let at = 0; at < lines.length; at += 1) {
    const { text, line } = lines[at] ?? { text: '', line: 1 };
    const isInCell = /<t[dh]\b[^<>]*>\s*$/i.test(prose[at - 1] ?? '');
    const depth = isInCell ? undefined : opening.exec(prose[at] ?? '')?.[1];
    const length = depth === undefined ? 0 : lengthOf(prose, at, `</h${depth}`);
    const whole = lines.slice(at, at + length).map((one) => one.text);
    const plain = length === 0 ? undefined : tryPlain(whole.join('\n'));
    if (plain === undefined) out.push({ text, line });
    else {
      const before = out.at(-1)?.text.trim() ? [''] : [];
      const after = lines[at + length]?.text.trim() ? [''] : [];
      for (const one of [...before, plain, ...after]) out.push({ text: one, line });
      at += length - 1;
    }
  }
  return out;
}

/** How many lines an element has, of which no one is empty; 0 if its end is not near. */
function lengthOf(prose: readonly string[], from: number, end: string): number {
  for (let at = from; at < from + maxLines && prose[at]?.trim(); at += 1)
    if (prose[at]?.toLowerCase().includes(end)) return at + 1 - from;
  return 0;
}

function tryPlain(html: string): string | undefined {
  const [, depth, attributes = '', written = ''] = (html.length <= maxLength && heading.exec(html)) || [];
  const inner = written.replace(/<!--.*?-->/gs, '').replace(/^(?:\s|<br\s*\/?>)+|(?:\s|<br\s*\/?>)+$/gi, '');
  const pieces = inner.split(/(<\/?[a-z][^<>]*>)/i);
  if (depth === undefined || !pieces.some((piece, at) => at % 2 === 0 && piece.trim() !== ''))
    return undefined;
  const shown = pieces.map((piece, at) => (at % 2 === 0 ? piece.replace(/[\\`*_[\]~]/g, '\\$&') : piece));
  const text = shown
    .join('')
    .replace(/<br\s*\/?>/gi, '<br> ')
    .replace(/\s+/g, ' ')
    .trim();
  const id = attributeIn(attributes, 'id') ?? attributeIn(attributes, 'name');
  return `${'#'.repeat(Number(depth))} ${text}${id ? ` <a id="${cleanId(id)}"></a>` : ''}`;
}

const meaning = /^ {0,3}:[ \t]+(?=\S)/;
const noTerm = /^(?:\s*$|[ \t]*(?:[-*+#>|<:]|```|~~~)| {4}|\t|[ \t]*\d+[.)])/;
const further = /^(?: {2,}|\t)\S/;
/** Lines above a meaning. More are a paragraph. */
const maxTerms = 5;

/** The lines of a text with its terms, whose meanings are in lines with `: ` below them, as lists of HTML. */
export function withPlainDefinitions(lines: readonly Line[], dialect: Dialect): readonly Line[] {
  if (!lines.some(({ text }) => meaning.test(text))) return lines;
  const prose = dialect.proseOf(lines.map((one) => one.text).join('\n')).split('\n');
  const isMeaning = (at: number) => meaning.test(prose[at] ?? '');
  const isBlank = (at: number) => (lines[at]?.text ?? '').trim() === '';
  /** Where the terms from a line end and their meanings begin, perhaps after an empty line. */
  const meaningAfter = (at: number): number | undefined => {
    let end = at;
    while (end < at + maxTerms && !isBlank(end) && !isMeaning(end) && !noTerm.test(lines[end]?.text ?? ''))
      end += 1;
    const next = isBlank(end) ? end + 1 : end;
    return end > at && isMeaning(next) ? next : undefined;
  };
  const out: Line[] = [];
  let at = 0;
  const push = (...texts: readonly string[]) => {
    for (const one of texts) out.push({ text: one, line: lines[Math.min(at, lines.length - 1)]?.line ?? 1 });
  };
  const goesOn = () => {
    const next = isBlank(at) ? at + 1 : at;
    return at < lines.length && further.test(lines[next]?.text ?? '') ? next : undefined;
  };
  while (at < lines.length) {
    let begin = isBlank(at - 1) ? meaningAfter(at) : undefined;
    push(begin === undefined ? (lines[at]?.text ?? '') : '<dl>');
    if (begin === undefined) {
      at += 1;
      continue;
    }
    for (; begin !== undefined; begin = meaningAfter(isBlank(at) ? at + 1 : at)) {
      for (at = isBlank(at) ? at + 1 : at; at < begin; at += 1)
        if (!isBlank(at)) push('<dt>', '', lines[at]?.text ?? '', '', '</dt>');
      while (isMeaning(at)) {
        push('<dd>', '', (lines[at]?.text ?? '').replace(meaning, ''));
        at += 1;
        for (let next = goesOn(); next !== undefined; next = goesOn()) {
          if (next > at) push('');
          at = next;
          push((lines[at]?.text ?? '').replace(/^(?: {1,4}|\t)/, ''));
          at += 1;
        }
        push('', '</dd>');
        if (isBlank(at) && isMeaning(at + 1)) at += 1;
      }
    }
    push('</dl>', '');
  }
  return out;
}
