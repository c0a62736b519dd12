import { stemmer as arabic } from '@orama/stemmers/arabic';
import { stemmer as armenian } from '@orama/stemmers/armenian';
import { stemmer as bulgarian } from '@orama/stemmers/bulgarian';
import { stemmer as danish } from '@orama/stemmers/danish';
import { stemmer as dutch } from '@orama/stemmers/dutch';
import { stemmer as finnish } from '@orama/stemmers/finnish';
import { stemmer as french } from '@orama/stemmers/french';
import { stemmer as german } from '@orama/stemmers/german';
import { stemmer as greek } from '@orama/stemmers/greek';
import { stemmer as hungarian } from '@orama/stemmers/hungarian';
import { stemmer as indian } from '@orama/stemmers/indian';
import { stemmer as indonesian } from '@orama/stemmers/indonesian';
import { stemmer as irish } from '@orama/stemmers/irish';
import { stemmer as italian } from '@orama/stemmers/italian';
import { stemmer as lithuanian } from '@orama/stemmers/lithuanian';
import { stemmer as nepali } from '@orama/stemmers/nepali';
import { stemmer as norwegian } from '@orama/stemmers/norwegian';
import { stemmer as portuguese } from '@orama/stemmers/portuguese';
import { stemmer as romanian } from '@orama/stemmers/romanian';
import { stemmer as russian } from '@orama/stemmers/russian';
import { stemmer as serbian } from '@orama/stemmers/serbian';
import { stemmer as spanish } from '@orama/stemmers/spanish';
import { stemmer as swedish } from '@orama/stemmers/swedish';
import { stemmer as tamil } from '@orama/stemmers/tamil';
import { stemmer as turkish } from '@orama/stemmers/turkish';
import { stemmer as ukrainian } from '@orama/stemmers/ukrainian';
import { stemmer as english } from 'stemmer';

/** By Snowball's rules. The English of `@orama/stemmers` takes `connection` for another word than `connect`. */
const stemmers: Readonly<Record<string, (word: string) => string>> = {
  ...{
    ar: arabic,
    bg: bulgarian,
    da: danish,
    de: german,
    el: greek,
    en: english,
    es: spanish,
    fi: finnish,
    fr: french,
  },
  ...{
    ga: irish,
    hi: indian,
    hu: hungarian,
    hy: armenian,
    id: indonesian,
    it: italian,
    lt: lithuanian,
    ne: nepali,
    nl: dutch,
  },
  ...{
    no: norwegian,
    pt: portuguese,
    ro: romanian,
    ru: russian,
    sr: serbian,
    sv: swedish,
    ta: tamil,
    tr: turkish,
    uk: ukrainian,
  },
};

/** @param tag the BCP 47 tag of a document; without one it counts as English */
export function stemLanguage(tag: string | null): string {
  const [language = ''] = (tag ?? 'en').toLowerCase().split('-');
  return language === 'nb' || language === 'nn' ? 'no' : language;
}

/** In the index it stands for all words with this stem. */
export function stemWord(word: string, language: string): string | undefined {
  const stem = stemIn(language, word);
  return stem === word ? undefined : stemMark + stem;
}

/** The words of the index that stand for other forms of a word. */
export function formWords(word: string, languages: readonly string[]): readonly string[] {
  const stems = new Set(languages.map((language) => stemIn(language, word)));
  return [...stems].flatMap((stem) => [stemMark + stem, ...(stem === word ? [] : [stem])]);
}

/** Before a stem; in no token of a text. */
export const stemMark = '~';

/** The part of a word that its forms share, which need not be a word. */
function stemIn(language: string, word: string): string {
  if (!hasForms.test(word) || !Object.hasOwn(stemmers, language)) return word;
  const known = knownStems.get(language) ?? new Map<string, string>();
  knownStems.set(language, known);
  let stem = known.get(word);
  if (stem === undefined) {
    if (known.size === maxKnown) known.clear();
    known.set(word, (stem = stemmers[language]?.(word) ?? word));
  }
  return stem;
}

const hasForms = /^\p{L}[\p{L}\p{M}]{2,}$/u;
/** By language and word: texts repeat their words. */
const knownStems = new Map<string, Map<string, string>>();
const maxKnown = 50_000;
