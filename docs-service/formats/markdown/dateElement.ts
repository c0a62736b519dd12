import { escapeXml } from './xmlText.ts';

/**
 * A date as people write it, for HTML. Times count as UTC.
 * @param date ISO 8601
 */
export function dateElement(date: string): string {
  const value = new Date(date);
  const shown = Number.isNaN(value.getTime())
    ? date
    : new Intl.DateTimeFormat('en-GB', { dateStyle: 'long', timeZone: 'UTC' }).format(value);
  return `<time datetime="${escapeXml(date)}" lang="en" dir="ltr">${escapeXml(shown)}</time>`;
}
