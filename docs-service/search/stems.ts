import { stemmer as ar } from '@orama/stemmers/arabic';
import { stemmer as hy } from '@orama/stemmers/armenian';
import { stemmer as bg } from '@orama/stemmers/bulgarian';
import { stemmer as da } from '@orama/stemmers/danish';
import { stemmer as nl } from '@orama/stemmers/dutch';
import { stemmer as fi } from '@orama/stemmers/finnish';
import { stemmer as fr } from '@orama/stemmers/french';
import { stemmer as de } from '@orama/stemmers/german';
import { stemmer as el } from '@orama/stemmers/greek';
import { stemmer as hu } from '@orama/stemmers/hungarian';
import { stemmer as hi } from '@orama/stemmers/indian';
import { stemmer as id } from '@orama/stemmers/indonesian';
import { stemmer as ga } from '@orama/stemmers/irish';
import { stemmer as it } from '@orama/stemmers/italian';
import { stemmer as lt } from '@orama/stemmers/lithuanian';
import { stemmer as ne } from '@orama/stemmers/nepali';
import { stemmer as no } from '@orama/stemmers/norwegian';
import { stemmer as pt } from '@orama/stemmers/portuguese';
import { stemmer as ro } from '@orama/stemmers/romanian';
import { stemmer as ru } from '@orama/stemmers/russian';
import { stemmer as sr } from '@orama/stemmers/serbian';
import { stemmer as es } from '@orama/stemmers/spanish';
import { stemmer as sv } from '@orama/stemmers/swedish';
import { stemmer as ta } from '@orama/stemmers/tamil';
import { stemmer as tr } from '@orama/stemmers/turkish';
import { stemmer as uk } from '@orama/stemmers/ukrainian';
import { stemmer as en } from 'stemmer';

/** By Snowball's rules. The English of `@orama/stemmers` takes `connection` for another word than `connect`. */
const stemmers: Readonly<Record<string, (word: string) => string>> = {
  ...{ ar, bg, da, de, el, en, es, fi, fr, ga, hi, hu, hy, id, it, lt },
  ...{ ne, nl, no, pt, ro, ru, sr, sv, ta, tr, uk },
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
  let known = knownStems.get(language);
  if (!known) {
    if (!Object.hasOwn(stemmers, language)) return word;
    knownStems.set(language, (known = new Map()));
  }
  const stem = known.get(word);
  if (stem !== undefined) return stem;
  if (!hasForms.test(word)) return word;
  if (known.size === maxKnown) known.clear();
  let made = word;
  try {
    made = stemmers[language]?.(word) || word;
  } catch {
    // That of Bulgarian fails for some words.
  }
  known.set(word, made);
  return made;
}

/** Languages of which stems may begin in another way than their words: those of Serbian have other letters. */
export const otherBeginnings = new Set(['ar', 'ga', 'id', 'sr', 'ta']);

const hasForms = /^\p{L}[\p{L}\p{M}]{2,}$/u;
/** By language and word: texts repeat their words. */
const knownStems = new Map<string, Map<string, string>>();
const maxKnown = 100_000;
