/** The first valid BCP 47 tag, in its canonical form; English if none is valid. */
export function languageOf(...tags: readonly (string | null | undefined)[]): string {
  return tags.map(tryLanguage).find((tag) => tag !== undefined) ?? 'en';
}

/** Attributes for an element of a book: the language, and the direction of its script if that is unusual. */
export function languageAttributes(tag: string): string {
  return `xml:lang="${tag}" lang="${tag}"${isRightToLeft(tag) ? ' dir="rtl"' : ''}`;
}

/**
 * Attributes for an element in HTML. Without a language, the first letter decides the direction.
 * @param tag as the author wrote it
 */
export function htmlLanguage(tag: string | null): string {
  const known = tryLanguage(tag);
  return known === undefined ? 'dir="auto"' : `lang="${known}" dir="${isRightToLeft(known) ? 'rtl' : 'ltr'}"`;
}

function isRightToLeft(tag: string): boolean {
  return rightToLeft.has(new Intl.Locale(tag).maximize().script ?? '');
}

const rightToLeft = new Set(['Arab', 'Hebr', 'Thaa', 'Syrc', 'Nkoo', 'Adlm']);

function tryLanguage(tag: string | null | undefined): string | undefined {
  if (!tag) return undefined;
  try {
    return Intl.getCanonicalLocales(tag)[0];
  } catch {
    return undefined;
  }
}
