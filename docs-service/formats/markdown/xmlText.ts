import { withoutIllegalCharacters } from '../../content/plainText.ts';

/** A text of one line as a reader sees it; empty if nothing of it is visible. */
export function visibleText(text: string): string {
  return withoutIllegalCharacters(text).replace(/\s+/g, ' ').trim();
}

/** For text and for attribute values in double quotes. */
export function escapeXml(text: string): string {
  return withoutIllegalCharacters(text).replace(/[&<>"]/g, (character) => entities[character] ?? character);
}

const entities: Readonly<Record<string, string>> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;' };

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
