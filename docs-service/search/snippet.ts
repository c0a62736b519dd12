import type { Document } from '../content/document.ts';
import { type HeadingAnchor, headingAnchors, isTitle, sectionsOf } from '../content/headings.ts';
import { markdownLines, withoutScripts } from '../content/markdownLines.ts';
import { words } from './analyser.ts';
import type { Clause, SearchHit } from './documentIndex.ts';
import { otherBeginnings, stemMark, stemWord } from './stems.ts';

export interface Snippet {
  readonly text: string;
  /** The line of the match, counted from 0; undefined without one. */
  readonly line: number | undefined;
  /** How many parts of the query are in it. */
  readonly parts: number;
}

/**
 * An excerpt of a Markdown text around the match of a query, in Markdown and at most `maxSnippetLength` units long. It
 * contains a code fence whole or not at all. Without a match, it is the beginning of the text.
 */
export function snippet(body: string, clauses: readonly Clause[]): Snippet {
  const text = withoutScripts(body.length > maxScanned ? body.slice(0, maxScanned) : body);
  const best = bestHit(placedHits(text, clauses), clauses);
  const found = { line: best && lineAt(text, best.hit.start), parts: best?.parts ?? 0 };
  if (best?.region.isFence) return { text: text.slice(best.region.start, best.region.end), ...found };
  const region = best?.region ?? firstRegion(text);
  return { text: region ? excerpt(text, region, best?.hit.start ?? region.start) : '', ...found };
}

function lineAt(text: string, place: number): number {
  let line = 0;
  for (let end = text.indexOf('\n'); end >= 0 && end < place; end = text.indexOf('\n', end + 1)) line += 1;
  return line;
}

export const maxSnippetLength = 300;
/** Only this much of a longer text is searched. */
const maxScanned = 65_536;
/** At most this much text comes before the first match. */
const maxBefore = 80;

/** A code fence, or the lines between two of them, without blank lines around. */
interface Region {
  readonly start: number;
  end: number;
  readonly isFence: boolean;
}

/** Long fences cannot be shown, and so they are left out. */
function* regionsOf(text: string): Generator<Region> {
  let region: (Region & { readonly fence: number | undefined }) | undefined;
  for (const { start, end, fence } of markdownLines(text)) {
    if (region && region.fence === fence) {
      region.end = end;
      continue;
    }
    if (region) yield* trimmed(text, region);
    region = { start, end, fence, isFence: fence !== undefined };
  }
  if (region) yield* trimmed(text, region);
}

/** The first prose, or else the first fence. */
function firstRegion(text: string): Region | undefined {
  const regions = [...regionsOf(text)];
  return regions.find(({ isFence }) => !isFence) ?? regions[0];
}

function* trimmed(text: string, { start, end, isFence }: Region): Generator<Region> {
  if (isFence) {
    if (end - start <= maxSnippetLength) yield { start, end, isFence };
    return;
  }
  const prose = text.slice(start, end);
  const from = start + (blanks.exec(prose)?.[0].length ?? 0);
  const to = start + prose.trimEnd().length;
  if (from < to) yield { start: from, end: to, isFence };
}

/**
 * Blank lines, and an indent of blanks and tabs. Behind other white space, such as a form feed or a single CR, no fence
 * begins, so it stays.
 */
const blanks = /^(?:[^\S\r\n]*\r?\n)*[ \t]*/;

interface Hit {
  readonly start: number;
  readonly end: number;
  readonly clause: Clause;
}

interface PlacedHit {
  readonly hit: Hit;
  readonly region: Region;
}

/** Where the parts of the query that are close together say most; of several such places, the first. */
function bestHit(
  placed: Iterable<PlacedHit>,
  clauses: readonly Clause[],
): (PlacedHit & Pick<Snippet, 'parts'>) | undefined {
  let best: (PlacedHit & Pick<Snippet, 'parts'>) | undefined;
  let most = 0;
  // Hits that fit into one excerpt with the latest of them.
  const near: PlacedHit[] = [];
  for (const one of placed) {
    const isNear = ({ hit, region }: PlacedHit) =>
      region === one.region && one.hit.end - hit.start <= maxSnippetLength - maxBefore;
    near.push(one);
    while (near[0] && (near.length > maxNear || !isNear(near[0]))) near.shift();
    if (near.some(({ hit }, at) => hit.clause === one.hit.clause && at < near.length - 1)) continue;
    const different = new Set(near.map(({ hit }) => hit.clause));
    const sum = [...different].reduce((all, { weight = 1 }) => all + weight, 0);
    if (near[0] && (best === undefined || sum > most))
      [best, most] = [{ ...near[0], parts: different.size }, sum];
    if (different.size === clauses.length) break;
  }
  return best;
}

/** At most this many hits are kept, so that the work stays linear. */
const maxNear = 32;

function* placedHits(text: string, clauses: readonly Clause[]): Generator<PlacedHit> {
  const regions = regionsOf(text);
  let region = regions.next().value;
  for (const hit of hits(text, clauses)) {
    while (region && region.end <= hit.start) region = regions.next().value;
    if (!region) return;
    if (region.start <= hit.start && hit.end <= region.end) yield { hit, region };
  }
}

/** Where a text has parts of the query, in any of the words that stand for them. */
export function* hits(text: string, clauses: readonly Clause[]): Generator<Hit> {
  const others = clauses.filter(({ tokens, isBeginning }) => tokens.length > 1 || isBeginning);
  const longest = Math.max(0, ...others.map(({ tokens }) => tokens.length));
  const clausesOf = clauseFinder(clauses);
  const latest: { readonly start: number; readonly token: string }[] = [];
  for (const { start, end, token, joined = [] } of words(text)) {
    latest.push({ start, token });
    if (latest.length > longest) latest.shift();
    for (const clause of clausesOf(token)) yield { start, end, clause };
    for (const one of joined)
      for (const clause of clausesOf(one.token)) yield { start, end: one.end, clause };
    for (const clause of others) {
      const first = latest[latest.length - clause.tokens.length];
      if (first && endsWith(latest, clause)) yield { start: first.start, end, clause };
    }
  }
}

/** Finds the clauses for which a word or its stem stands. It remembers the words of all texts of a page. */
function clauseFinder(clauses: readonly Clause[]): (token: string) => readonly Clause[] {
  const known = finders.get(clauses);
  if (known) return known;
  const byWord = new Map<string, Clause[]>();
  for (const clause of clauses)
    for (const word of wordsOf(clause)) byWord.set(word, [...(byWord.get(word) ?? []), clause]);
  const languages = [...new Set(clauses.flatMap((clause) => clause.languages ?? []))];
  // Most stems begin as their words do, and making them takes long.
  const beginnings = new Set(Array.from(byWord.keys(), (word) => word.replace(stemMark, '')[0]));
  const others = languages.filter((language) => otherBeginnings.has(language));
  const found = new Map<string, readonly Clause[]>();
  const find = (token: string) => {
    let some = found.get(token);
    if (some) return some;
    some = byWord.get(token) ?? [];
    for (const language of beginnings.has(token[0]) ? languages : others) {
      const more = byWord.get(stemWord(token, language) ?? token);
      if (more && more !== some) some = [...new Set([...some, ...more])];
    }
    found.set(token, some);
    return some;
  };
  finders.set(clauses, find);
  return find;
}

const finders = new WeakMap<readonly Clause[], (token: string) => readonly Clause[]>();

function wordsOf({ tokens, joined, forms = [], isBeginning }: Clause): ReadonlySet<string> {
  const whole = tokens.length === 1 && !isBeginning ? tokens : [];
  return new Set([...whole, ...forms, ...(joined === undefined ? [] : [joined])]);
}

function endsWith(latest: readonly { readonly token: string }[], { tokens, isBeginning }: Clause): boolean {
  const offset = latest.length - tokens.length;
  for (let index = tokens.length - 1; index >= 0; index--) {
    const [token = '', wanted = ''] = [latest[offset + index]?.token, tokens[index]];
    const isSame = isBeginning && index === tokens.length - 1 ? token.startsWith(wanted) : token === wanted;
    if (!isSame) return false;
  }
  return true;
}

/** A part of a region around a place in it, cut between words. */
function excerpt(text: string, region: Region, at: number): string {
  const begin = beginning(text, region, at);
  const isCut = begin > region.start && text[begin - 1] !== '\n';
  const before = isCut ? '… ' : '';
  const room = maxSnippetLength - before.length;
  if (region.end - begin <= room) return before + text.slice(begin, region.end);
  const kept = text.slice(begin, ending(text, begin, begin + room - 2)).trimEnd();
  return `${withoutOpenFence(before + kept)} …`;
}

/** A line of prose that is cut after its first backticks would look like the start of a fence. */
function withoutOpenFence(prose: string): string {
  const opening = [...markdownLines(prose)].find(({ fence }) => fence !== undefined);
  return opening === undefined ? prose : prose.slice(0, opening.start).trimEnd();
}

/** The beginning of the paragraph if it is near, or else of a word. */
function beginning(text: string, region: Region, at: number): number {
  const earliest = Math.max(region.start, at - maxBefore);
  if (earliest === region.start) return earliest;
  const before = text.slice(earliest, at);
  const paragraph = before.lastIndexOf('\n\n');
  if (paragraph >= 0) return earliest + paragraph + 2;
  const space = before.search(/\s\S/);
  return space >= 0 ? earliest + space + 1 : at;
}

function ending(text: string, begin: number, latest: number): number {
  const kept = text.slice(begin, latest + 1);
  const space = kept.search(/\s\S*$/);
  if (space > maxSnippetLength / 2) return begin + space;
  const character = characters.segment(text.slice(begin, latest + maxBefore)).containing(latest - begin);
  return begin + (character?.index || latest - begin);
}

const characters = new Intl.Segmenter();

type HitText = Pick<Document, 'title' | 'body'>;

/**
 * What a hit shows of its document. What is near in meaning comes before words that are far from each other, because a
 * question has many words that say little.
 */
export function excerptOf(
  { title, body }: HitText,
  clauses: readonly Clause[],
  { matched, place }: Pick<SearchHit, 'matched'> & { readonly place: number | undefined },
): Pick<SearchHit, 'snippet' | 'section'> {
  const words = matched === 'meaning' ? undefined : snippet(body, clauses);
  // The document may have changed since its sections were compared.
  const near = place === undefined ? undefined : sectionsOf(body)[place];
  // Single words of the question say little where they did not find the document: then it is the beginning.
  const meaning = near && snippet(near.text, words ? clauses : []);
  const isNear = meaning && (!words || words.parts < clauses.length || meaning.parts === words.parts);
  const { text, line } = isNear ? meaning : (words ?? snippet(body, clauses));
  // Scripts are removed without their line ends.
  const found = near && isNear ? lineAt(withoutScripts(body), near.start) : line;
  return { snippet: text, section: found === undefined ? null : sectionAt({ title, body }, found) };
}

/** The section that has a line. Above the first heading, and below the title alone, there is none. */
function sectionAt({ title, body }: HitText, line: number): SearchHit['section'] {
  let section: SearchHit['section'] = null;
  for (const [number, heading] of headingsUpTo(body, line).entries()) {
    const { id, text, isInside } = heading;
    if (number === 0 && isTitle(text, title)) continue;
    if (!isInside && text !== '') section = { id, title: text };
  }
  return section;
}

function headingsUpTo(body: string, line: number): readonly HeadingAnchor[] {
  let end = -1;
  // The line after it may underline a heading.
  for (let left = line + 2; left > 0; left--) {
    end = body.indexOf('\n', end + 1);
    if (end < 0) break;
  }
  return [...headingAnchors(end < 0 ? body : body.slice(0, end))].filter((heading) => heading.line <= line);
}
