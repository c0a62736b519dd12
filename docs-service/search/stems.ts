/** The part of a word that its forms share. It depends on the language, and need not be a word. */
export type Stem = (word: string) => string;

type Stemmer = { readonly stemmer: Stem };

/** By Snowball's rules, in the languages of `@orama/stemmers`. */
const stemmers: Readonly<Record<string, () => Promise<Stemmer>>> = {
  ar: () => import('@orama/stemmers/arabic'),
  bg: () => import('@orama/stemmers/bulgarian'),
  da: () => import('@orama/stemmers/danish'),
  de: () => import('@orama/stemmers/german'),
  el: () => import('@orama/stemmers/greek'),
  // That of `@orama/stemmers` takes `connection` for another word than `connect`.
  en: () => import('stemmer'),
  es: () => import('@orama/stemmers/spanish'),
  fi: () => import('@orama/stemmers/finnish'),
  fr: () => import('@orama/stemmers/french'),
  ga: () => import('@orama/stemmers/irish'),
  hi: () => import('@orama/stemmers/indian'),
  hu: () => import('@orama/stemmers/hungarian'),
  hy: () => import('@orama/stemmers/armenian'),
  id: () => import('@orama/stemmers/indonesian'),
  it: () => import('@orama/stemmers/italian'),
  lt: () => import('@orama/stemmers/lithuanian'),
  ne: () => import('@orama/stemmers/nepali'),
  nl: () => import('@orama/stemmers/dutch'),
  no: () => import('@orama/stemmers/norwegian'),
  pt: () => import('@orama/stemmers/portuguese'),
  ro: () => import('@orama/stemmers/romanian'),
  ru: () => import('@orama/stemmers/russian'),
  sr: () => import('@orama/stemmers/serbian'),
  sv: () => import('@orama/stemmers/swedish'),
  ta: () => import('@orama/stemmers/tamil'),
  tr: () => import('@orama/stemmers/turkish'),
  uk: () => import('@orama/stemmers/ukrainian'),
};

/** @param tag the BCP 47 tag of a document; without one it counts as English */
export function stemLanguage(tag: string | null): string {
  const [language = ''] = (tag ?? 'en').toLowerCase().split('-');
  return language === 'nb' || language === 'nn' ? 'no' : language;
}

/** The stem in a language; undefined if there are no rules for it. */
export async function tryStem(language: string): Promise<Stem | undefined> {
  const load = Object.hasOwn(stemmers, language) ? stemmers[language] : undefined;
  if (!load) return undefined;
  const { stemmer } = await load();
  const known = knownStems.get(language) ?? new Map<string, string>();
  knownStems.set(language, known);
  return (word) => {
    const found = known.get(word);
    if (found !== undefined) return found;
    if (known.size === maxKnown) known.clear();
    const stem = stemmer(word);
    known.set(word, stem);
    return stem;
  };
}

/** By language and word: a search stems many words of the library. */
const knownStems = new Map<string, Map<string, string>>();
const maxKnown = 50_000;
