import { escapeHtml, type Site } from '../pages.ts';
import type { LibraryPlace } from './documentList.ts';

/** The box for a search on a page of the library, with what the page is narrowed to. */
export function searchForm({ root }: Site, { q = '', type, tag, path }: LibraryPlace): string {
  const kept = Object.entries({ path, type, tag }).flatMap(([name, value]) =>
    value === undefined ? [] : [`<input type="hidden" name="${name}" value="${escapeHtml(value)}">`],
  );
  const label = path === undefined ? 'Search the library' : `Search in ${escapeHtml(path)}`;
  return `<form class="search" role="search" action="${root}/read"><div>
<label class="hidden" for="page:q">${label}</label>
<input id="page:q" type="search" name="q" value="${escapeHtml(q)}" placeholder="${label}" maxlength="1000" autocomplete="off">${kept.join('')}
</div><button class="main">Search</button></form>
`;
}
