/** The first that is a BCP 47 tag, in its canonical form; English where none is. */
export function languageOf(...tags: readonly (string | null | undefined)[]): string {
  return tags.map(tryLanguage).find((tag) => tag !== undefined) ?? 'en';
}

/** For the attributes of an element: the language, and the direction of its script where that is unusual. */
export function languageAttributes(tag: string): string {
  const direction = rightToLeft.has(new Intl.Locale(tag).maximize().script ?? '') ? ' dir="rtl"' : '';
  return `xml:lang="${tag}" lang="${tag}"${direction}`;
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
