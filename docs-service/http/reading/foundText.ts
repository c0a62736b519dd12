import type { Token, Tokens } from 'marked';
import { plainText } from '../../content/plainText.ts';
import { lexPlain } from '../../formats/markdown/markdown.ts';
import { UnrenderableError } from '../../formats/renderJob.ts';
import type { Query } from '../../search/query.ts';
import { hits } from '../../search/snippet.ts';
import { escapeHtml } from '../pages.ts';

/** A text as HTML, with the matches of a query marked. */
export function markFound(text: string, { all }: Query): string {
  const out: string[] = [];
  let from = 0;
  for (const { start, end } of merged([...hits(text, all)])) {
    out.push(escapeHtml(text.slice(from, start)), `<mark>${escapeHtml(text.slice(start, end))}</mark>`);
    from = end;
  }
  return `${out.join('')}${escapeHtml(text.slice(from))}`;
}

/** Converts an excerpt in Markdown, as search returns it, to HTML: code stays code, other text becomes its words. */
export function snippetToHtml(snippet: string, query: Query): string {
  const tokens = blocksOf(snippet);
  const [only, ...more] = tokens;
  if (only?.type === 'code' && more.length === 0)
    return `<pre class="snippet" tabindex="0"><code>${markFound((only as Tokens.Code).text, query)}</code></pre>`;
  const words = tokens.map(wordsOf).join(' ').replace(footnotes, '').replace(/\s+/g, ' ').trim();
  const text = words.replace(/ —$/, '') || snippet;
  return `<p class="snippet" dir="auto">${markFound(text, query)}</p>`;
}

/** Without its definition, a reference is text. */
const footnotes = /\[\^[^\]\s]{1,100}\]/g;

interface Span {
  readonly start: number;
  readonly end: number;
}

/** Adjacent spans become one. */
function merged(spans: readonly Span[]): Span[] {
  const out: Span[] = [];
  for (const span of [...spans].sort((one, other) => one.start - other.start)) {
    const last = out.at(-1);
    if (last && span.start <= last.end)
      out[out.length - 1] = { start: last.start, end: Math.max(last.end, span.end) };
    else out.push(span);
  }
  return out;
}

function blocksOf(snippet: string): readonly Token[] {
  try {
    return lexPlain(snippet).filter(({ type }) => !['space', 'def'].includes(type));
  } catch (error) {
    if (error instanceof UnrenderableError) return [];
    throw error;
  }
}

function wordsOf(token: Token): string {
  switch (token.type) {
    case 'list':
      return (token as Tokens.List).items.map(({ tokens }) => tokens.map(wordsOf).join(' ')).join(' · ');
    case 'table': {
      const { header, rows } = token as Tokens.Table;
      return [header, ...rows]
        .flat()
        .map(({ tokens }) => plainText(tokens))
        .join(' · ');
    }
    case 'blockquote':
      return (token as Tokens.Blockquote).tokens.map(wordsOf).join(' ');
    case 'heading':
      return `${plainText([token])} —`;
    case 'hr':
      return '';
    default:
      return plainText([token]);
  }
}
