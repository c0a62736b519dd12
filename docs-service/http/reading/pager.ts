import { escapeHtml } from '../pages.ts';

export interface PagerOptions {
  /** Counted from 1. */
  readonly page: number;
  readonly pageSize: number;
  readonly total: number;
  readonly addressOf: (page: number) => string;
}

/** Links to the previous and the next page; empty if there is only one page. */
export function pager({ page, pageSize, total, addressOf }: PagerOptions): string {
  const last = Math.max(1, Math.ceil(total / pageSize));
  if (last === 1 && page === 1) return '';
  const link = (to: number, rel: string, text: string) =>
    `<a class="button" rel="${rel}" href="${escapeHtml(addressOf(to))}">${text}</a>`;
  const before = page > 1 ? link(Math.min(page - 1, last), 'prev', '← Previous') : '<span></span>';
  const after = page < last ? link(page + 1, 'next', 'Next →') : '<span></span>';
  const place = page <= last ? `<span class="meta">Page ${page} of ${last}</span>` : '';
  return `<nav class="pager" aria-label="Pages">${before}${place}${after}</nav>`;
}
