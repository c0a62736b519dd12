import type { Tokens } from 'marked';
import { snippetBlocks, snippetWords } from '../../formats/markdown/snippetText.ts';
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
export function snippetToHtml(snippet: string, query: Query, title = ''): string {
  const tokens = snippetBlocks(snippet, title);
  const [only, ...more] = tokens;
  if (only?.type === 'code' && more.length === 0)
    return `<pre class="snippet" tabindex="0"><code>${markFound((only as Tokens.Code).text, query)}</code></pre>`;
  return `<p class="snippet" dir="auto">${markFound(snippetWords(snippet, tokens), query)}</p>`;
}

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
