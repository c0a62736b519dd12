import type { ListParameters } from './schemas.ts';

/** The parameters of a page, with the defaults filled in. */
export type PageParameters = ListParameters & { readonly limit: number; readonly offset: number };

/** The Link header of a page (RFC 8288): absolute, with every filter kept. */
export function pageLinks(address: string, parameters: PageParameters, total: number): string {
  const { limit, offset } = parameters;
  const last = total === 0 ? 0 : Math.floor((total - 1) / limit) * limit;
  const links: [string, number][] = [['first', 0]];
  if (offset > 0) links.push(['prev', Math.max(0, Math.min(offset - limit, last))]);
  if (offset + limit < total) links.push(['next', offset + limit]);
  links.push(['last', last]);
  return links.map(([rel, at]) => `<${pageAddress(address, parameters, at)}>; rel="${rel}"`).join(', ');
}

function pageAddress(address: string, { type, tag, q, limit }: PageParameters, offset: number): string {
  const search = new URLSearchParams();
  for (const [name, value] of Object.entries({ type, tag, q }))
    if (value !== undefined) search.set(name, value);
  search.set('limit', String(limit));
  search.set('offset', String(offset));
  return `${address}?${search}`;
}
