import { tryNow } from '../../../protocol/base/text.ts';
import { withoutIllegalCharacters } from '../../content/inlineText.ts';

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

/** The first valid BCP 47 tag, in its canonical form; English if none is valid. */
export function languageOf(...tags: readonly (string | null | undefined)[]): string {
  return tags.map(tryLanguage).find((tag) => tag !== undefined) ?? 'en';
}

/** Attributes for an element of a book: the language, and the direction of its script if that is unusual. */
export function languageAttributes(tag: string): string {
  return `xml:lang="${tag}" lang="${tag}"${directionOfLanguage(tag) === 'rtl' ? ' dir="rtl"' : ''}`;
}

/**
 * Attributes for an element in HTML. Without a language, the first letter decides the direction.
 * @param tag as the author wrote it
 */
export function htmlLanguage(tag: string | null): string {
  const known = tryLanguage(tag);
  return known === undefined ? 'dir="auto"' : `lang="${known}" dir="${directionOfLanguage(known)}"`;
}

/** @param tag as the author wrote it; undefined if there is none that is valid */
export function tryDirection(tag: string | null): Direction | undefined {
  const known = tryLanguage(tag);
  return known === undefined ? undefined : directionOfLanguage(known);
}

export type Direction = 'ltr' | 'rtl';

function directionOfLanguage(tag: string): Direction {
  return rightToLeft.has(new Intl.Locale(tag).maximize().script ?? '') ? 'rtl' : 'ltr';
}

const rightToLeft = new Set(['Arab', 'Hebr', 'Thaa', 'Syrc', 'Nkoo', 'Adlm']);

function tryLanguage(tag: string | null | undefined): string | undefined {
  return tag ? tryNow(() => Intl.getCanonicalLocales(tag)[0]) : undefined;
}
