import type { Tokens } from 'marked';
import { count } from '../../../protocol/base/text.ts';
import { someOf } from '../../base/text.ts';
import { snippetBlocks, snippetWords } from '../../formats/markdown/snippetText.ts';
import type { Clause, Correction, SearchHit, SearchPage } from '../../search/documentIndex.ts';
import { hits } from '../../search/snippet.ts';
import { readingPath } from '../documentView.ts';
import { escapeHtml, type Site } from '../pages.ts';
import { libraryAddress } from './documentList.ts';

/** A text as HTML, with the matches of a query marked. */
export function markFound(text: string, clauses: readonly Clause[]): string {
  const out: string[] = [];
  let from = 0;
  for (const { start, end } of merged([...hits(text, clauses)])) {
    out.push(escapeHtml(text.slice(from, start)), `<mark>${escapeHtml(text.slice(start, end))}</mark>`);
    from = end;
  }
  return `${out.join('')}${escapeHtml(text.slice(from))}`;
}

/** Converts an excerpt in Markdown, as search returns it, to HTML: code stays code, other text becomes its words. */
export function snippetToHtml(snippet: string, clauses: readonly Clause[], title = ''): string {
  const tokens = snippetBlocks(snippet, title);
  const [only, ...more] = tokens;
  if (only?.type === 'code' && more.length === 0)
    return `<pre class="snippet" tabindex="0"><code>${markFound((only as Tokens.Code).text, clauses)}</code></pre>`;
  return `<p class="snippet" dir="auto">${markFound(snippetWords(snippet, tokens), clauses)}</p>`;
}

/** What a search of a reader found. */
export interface SearchAnswer extends SearchPage {
  readonly site: Site;
  readonly filter: { readonly type?: string; readonly tag?: string; readonly path?: string };
  readonly text: string;
}

/** How many documents were found, and what was searched for instead of what the reader wrote. As HTML. */
export function countText(answer: SearchAnswer): string {
  const { text, corrected, approximate } = answer;
  return [
    `${numbers(answer)} for “<bdi class="foreign">${escapeHtml(text)}</bdi>”`,
    ...(approximate ? ['The commonest words were left out, because too many documents have them.'] : []),
    ...(corrected.length > 0 ? [correctionText(answer)] : []),
  ].join('<br>\n');
}

/** In a query of several words, documents with all of them are told from those with some, or near in meaning. */
function numbers({ clauses, items, total, allWords, approximate }: SearchAnswer): string {
  if (approximate) return `More than ${count(total, 'document')}`;
  if (allWords === total || clauses.length < 2) return count(total, 'document');
  const all = allWords === 0 ? 'No document' : count(allWords, 'document');
  const isByWords = items.every(({ matched }) => matched === 'text');
  return `${all} with all words, ${isByWords ? count(total - allWords, 'with some', 'with some') : count(total - allWords, 'other')},`;
}

function correctionText({ site, filter, text, corrected }: SearchAnswer): string {
  const meant = corrected
    .map((one) => `<strong class="foreign">${escapeHtml(one.meant)}</strong>`)
    .join(', ');
  const written = corrected.map((one) => `“${escapeHtml(one.written)}”`).join(' and ');
  const address = libraryAddress(site, { ...filter, q: asWritten(text, corrected) });
  return `Showing results for ${meant}. <a href="${escapeHtml(address)}">Search for ${written} as written</a>`;
}

/** The same query, with what was corrected in quotes. */
function asWritten(text: string, corrected: readonly Correction[]): string {
  const words = corrected.map(({ written }) => written.toLowerCase());
  return text.replace(/["“”„«»][^"“”„«»]*["“”„«»]?|[^\s"“”„«»]+/gu, (term) =>
    words.some((word) => !/^["“”„«»]/.test(term) && term.toLowerCase().includes(word)) ? `"${term}"` : term,
  );
}

/** Where a document was found, what it lacks, and its excerpt, as HTML. Empty if there is nothing to say. */
export function hitText(site: Site, hit: SearchHit, clauses: readonly Clause[]): string {
  const { document, section, matched, missing, snippet } = hit;
  const isNear = matched === 'meaning';
  const address = `${readingPath(site, document.slug)}#${encodeURIComponent(section?.id ?? '')}`;
  const link = section && `<a dir="auto" href="${escapeHtml(address)}">${escapeHtml(section.title)}</a>`;
  const place = isNear ? `Similar in meaning${link ? `, in ${link}` : ''}` : link && `In ${link}`;
  const lacks = isNear || missing.length === 0 ? '' : `Without: <bdi>${escapeHtml(someOf(missing, 5))}</bdi>`;
  const about = [place, lacks].filter(Boolean).join(' · ');
  // Without marks where the words found nothing.
  const excerpt = snippet === '' ? '' : snippetToHtml(snippet, isNear ? [] : clauses, document.title);
  return `${about === '' ? '' : `<p class="meta">${about}</p>`}${excerpt}`;
}

type Span = { readonly start: number; readonly end: number };

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
