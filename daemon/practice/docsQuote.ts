import { readdir, readFile } from 'node:fs/promises';
import { join, relative } from 'node:path';

export interface Documents {
  /** All sections of all documents, which are read once; empty if there is no folder. */
  sections(): Promise<readonly Section[]>;
}

const limits = { files: 200, bytes: 512 * 1024 } as const;

/**
 * Reads a folder of Markdown: at most 200 files, and half a megabyte of each. Files that cannot be read are left out.
 */
export function createDocuments(folder: string | undefined): Documents {
  let read: Promise<readonly Section[]> | undefined;
  return { sections: () => (read ??= folder === undefined ? Promise.resolve([]) : readFolder(folder)) };
}

async function readFolder(folder: string): Promise<readonly Section[]> {
  const names = await readdir(folder, { recursive: true }).catch((): string[] => []);
  const files = names
    .filter((name) => name.endsWith('.md'))
    .sort()
    .slice(0, limits.files);
  const sections: Section[] = [];
  for (const file of files) {
    const path = join(folder, file);
    const text = await readFile(path, 'utf8').catch(() => '');
    sections.push(...splitSections(text.slice(0, limits.bytes), relative(folder, path)));
  }
  return sections;
}

/** A heading of a document and the paragraphs below it. */
export interface Section {
  readonly file: string;
  /** The first heading of the file. */
  readonly title: string;
  readonly heading: string;
  readonly paragraphs: readonly string[];
}

export interface Match {
  readonly section: Section;
  readonly score: number;
  /** The share of the question's words that the section contains, up to 1. */
  readonly share: number;
}

/** Splits Markdown at its headings. Front matter is left out, and a fenced block stays one paragraph. */
export function splitSections(markdown: string, file: string): readonly Section[] {
  const sections: { heading: string; lines: string[] }[] = [{ heading: file, lines: [] }];
  let fence = '';
  for (const line of markdown.replace(/^---\r?\n.*?\r?\n---\r?\n/s, '').split(/\r?\n/)) {
    const mark = /^\s*(```+|~~~+)/.exec(line)?.[1] ?? '';
    const heading = fence === '' ? /^#{1,6}\s+(.*?)\s*#*$/.exec(line)?.[1] : undefined;
    if (heading !== undefined) sections.push({ heading, lines: [] });
    else sections.at(-1)?.lines.push(line);
    if (fence === '') fence = mark;
    else if (mark.startsWith(fence)) fence = '';
  }
  const title = sections[1]?.heading ?? file;
  return sections
    .map(({ heading, lines }) => ({ file, title, heading, paragraphs: splitParagraphs(lines) }))
    .filter(({ paragraphs }) => paragraphs.length > 0);
}

/**
 * The sections that contain words of the question, best first. A rare word counts more than a common one, and a word
 * counts more in a short text than in a long one. A heading that matches the question counts most.
 */
export function findSections(question: string, sections: readonly Section[]): readonly Match[] {
  const asked = [...wordsOf(question)];
  const bags = sections.map(bagOf);
  const average = bags.reduce((sum, { length }) => sum + length, 0) / (bags.length || 1);
  const rarity = new Map(asked.map((word) => [word, rarityOf(word, bags)]));
  return bags
    .map((bag) => ({ section: bag.section, ...scoreOf(bag, rarity, average) }))
    .filter(({ score }) => score > 0)
    .sort((a, b) => b.score - a.score);
}

interface Bag {
  readonly section: Section;
  readonly heading: ReadonlySet<string>;
  /** The words of the document's title and file name, which count a little for each of its sections. */
  readonly document: ReadonlySet<string>;
  readonly text: ReadonlySet<string>;
  readonly length: number;
}

function bagOf(section: Section): Bag {
  const text = section.paragraphs.join('\n');
  return {
    section,
    heading: wordsOf(section.heading),
    document: wordsOf(`${section.title} ${section.file.replace(/\.md$/, '')}`),
    text: wordsOf(text),
    length: text.length,
  };
}

function scoreOf(
  { heading, document, text, length }: Bag,
  rarity: ReadonlyMap<string, number>,
  average: number,
): Pick<Match, 'score' | 'share'> {
  const inText = 2.2 / (1.3 + 0.9 * (length / average));
  let [score, hits, inHeading] = [0, 0, 0];
  for (const [word, weight] of rarity) {
    if (heading.has(word)) inHeading += 1;
    const points =
      (heading.has(word) ? 1 : 0) + (document.has(word) ? 0.5 : 0) + (text.has(word) ? inText : 0);
    if (points > 0) hits += 1;
    score += points * weight;
  }
  // Twice the number of common words, divided by the words of both: 1 if heading and question have the same words.
  const likeness = (2 * inHeading) / (heading.size + rarity.size || 1);
  const share = hits / (rarity.size || 1);
  return { score: score * (0.5 + share / 2) + 3 * likeness, share };
}

function rarityOf(word: string, bags: readonly Bag[]): number {
  const having = bags.filter(({ heading, text }) => heading.has(word) || text.has(word)).length;
  return Math.log(1 + (bags.length - having + 0.5) / (having + 0.5));
}

/** Quotes whole paragraphs of a section: the best matches in their original order, up to about 900 characters. */
export function quoteSection(question: string, { paragraphs }: Section): string {
  const asked = wordsOf(question);
  const ranked = joinLeads(paragraphs)
    .map((text, index) => ({
      text,
      index,
      hits: [...wordsOf(text)].filter((word) => asked.has(word)).length,
    }))
    .sort((a, b) => b.hits - a.hits);
  let room = 900;
  const chosen = ranked.filter(({ text, hits }, rank) => {
    if (rank > 0 && hits === 0) return false;
    const fits = rank === 0 || text.length <= room;
    if (fits) room -= text.length;
    return fits;
  });
  return chosen
    .sort((a, b) => a.index - b.index)
    .map(({ text }) => blockQuote(text))
    .join('\n>\n');
}

export function blockQuote(text: string): string {
  return text.replace(/^(.?)/gm, (_line, first: string) => (first === '' ? '>' : `> ${first}`));
}

/** A paragraph that ends with a colon is useless without the next one. */
function joinLeads(paragraphs: readonly string[]): readonly string[] {
  const joined: string[] = [];
  for (const paragraph of paragraphs) {
    const lead = joined.at(-1)?.endsWith(':') ? joined.pop() : undefined;
    joined.push(lead === undefined ? paragraph : `${lead}\n\n${paragraph}`);
  }
  return joined;
}

/** The words that a search uses: without small words, and with singular and plural in one form. */
export function wordsOf(text: string): ReadonlySet<string> {
  const words = text.toLowerCase().match(/[\p{L}\p{N}]+/gu) ?? [];
  return new Set(words.filter((word) => word.length > 1 && !smallWords.has(word)).map(stem));
}

const smallWords = new Set(
  `a about an and any are as at be by can could do does explain for from get give has have help how i if in into is it
  its let may me my no not of on or our please say show so some tell that the their them then there these they this to
  us use was we what when where which who why will with would you your hello hi hey thanks happen happens`.split(
    /\s+/,
  ),
);

function stem(word: string): string {
  return word.replace(/(?:ies|y)$/, 'i').replace(/(?<=\w{3})(?:ing|ed|es|s)$/, '');
}

function splitParagraphs(lines: readonly string[]): readonly string[] {
  const paragraphs: string[][] = [[]];
  let fence = '';
  for (const line of lines) {
    const mark = /^\s*(```+|~~~+)/.exec(line)?.[1] ?? '';
    if (line.trim() === '' && fence === '') paragraphs.push([]);
    else paragraphs.at(-1)?.push(line);
    if (fence === '') fence = mark;
    else if (mark.startsWith(fence)) fence = '';
  }
  return paragraphs.filter((paragraph) => paragraph.length > 0).map((paragraph) => paragraph.join('\n'));
}
