import { readdir, readFile } from 'node:fs/promises';
import { join, sep } from 'node:path';

/** A heading of a page and the paragraphs below it. */
export interface GuideSection {
  readonly file: string;
  /** The first heading of the page. */
  readonly title: string;
  /** Whether the page is a guide, and not a reference, which newcomers seldom ask for. */
  readonly isGuide: boolean;
  readonly heading: string;
  readonly paragraphs: readonly string[];
}

const limits = { files: 200, characters: 512 * 1024 } as const;

/** All sections of a folder of Markdown, which is read at the first call. Files that cannot be read are left out. */
export function readPages(folder: string): () => Promise<readonly GuideSection[]> {
  let read: Promise<readonly GuideSection[]> | undefined;
  return () => (read ??= readFolder(folder));
}

async function readFolder(folder: string): Promise<readonly GuideSection[]> {
  const names = await readdir(folder, { recursive: true }).catch((): string[] => []);
  const files = names.filter((name) => name.endsWith('.md')).map((name) => name.replaceAll(sep, '/'));
  const sections: GuideSection[] = [];
  for (const file of files.sort().slice(0, limits.files)) {
    const text = await readFile(join(folder, file), 'utf8').catch(() => '');
    sections.push(...splitPage(text.slice(0, limits.characters), file));
  }
  return sections;
}

/** Splits Markdown at its headings. A fenced block is one paragraph, and so is what ends with a colon with the next. */
function splitPage(markdown: string, file: string): readonly GuideSection[] {
  const [front = ''] = /^---\r?\n.*?\n---\r?\n/s.exec(markdown) ?? [];
  const isGuide = !/^type: reference$/m.test(front);
  const sections = [{ heading: file, paragraphs: [''] }];
  let fence = '';
  for (const line of markdown.slice(front.length).split(/\r?\n/)) {
    const mark = /^ *(```+|~~~+)/.exec(line)?.[1] ?? '';
    const heading = fence === '' ? /^#{1,6} +(.*)/.exec(line)?.[1] : undefined;
    const { paragraphs = [] } = sections.at(-1) ?? {};
    const last = paragraphs.at(-1) ?? '';
    if (heading !== undefined) sections.push({ heading: heading.replaceAll('`', ''), paragraphs: [''] });
    else if (line.trim() === '' && fence === '' && !last.endsWith(':\n')) paragraphs.push('');
    else paragraphs[paragraphs.length - 1] = `${last}${line}\n`;
    if (fence === '') fence = mark;
    else if (mark.startsWith(fence)) fence = '';
  }
  const title = sections[1]?.heading ?? file;
  return sections
    .map(({ heading, paragraphs }) => ({
      ...{ file, title, isGuide, heading },
      paragraphs: paragraphs.map((text) => text.trimEnd()).filter(Boolean),
    }))
    .filter(({ paragraphs }) => paragraphs.length > 0);
}

/** A section of a page that has words of the question. */
export interface PageMatch {
  readonly section: GuideSection;
  readonly score: number;
  /** The share of the question's words that the section contains, up to 1. */
  readonly share: number;
}

/** The sections that fit a question, best first. Rare words count more, in headings most, and less in long texts. */
export function findSections(question: string, sections: readonly GuideSection[]): readonly PageMatch[] {
  const asked = [...wordsOf(question)];
  const bags = sections.map((section) => ({
    section,
    above: wordsOf(`${section.file.replace('.md', '')} ${section.heading}`),
    inside: wordsOf(section.paragraphs.join('\n')),
  }));
  const rarity = new Map(
    asked.map((word) => {
      const having = bags.filter(({ above, inside }) => above.has(word) || inside.has(word)).length;
      return [word, Math.log(1 + bags.length / (1 + having))];
    }),
  );
  return bags
    .map(({ section, above, inside }) => {
      const weigh = (words: ReadonlySet<string>) =>
        asked.reduce((sum, word) => sum + (words.has(word) ? (rarity.get(word) ?? 0) : 0), 0);
      const hits = asked.filter((word) => above.has(word) || inside.has(word)).length;
      const share = hits / asked.length;
      const score = weigh(above) * (1 + 2 / above.size) + weigh(inside) * (2 / (1 + inside.size / 100));
      return { section, share, score: score * (0.5 + share / 2) * (section.isGuide ? 1 : 0.6) };
    })
    .filter(({ score }) => score > 0)
    .sort((a, b) => b.score - a.score);
}

/** Quotes a section from the first paragraph on that has enough words of the question, up to about 900 characters. */
export function quoteSection(question: string, { paragraphs }: GuideSection): string {
  const asked = wordsOf(question);
  const hits = paragraphs.map((text) => [...wordsOf(text)].filter((word) => asked.has(word)).length);
  const enough = Math.max(...hits) / 2;
  const [first = '', ...rest] = paragraphs.slice(hits.findIndex((count) => count >= enough));
  let quoted = first;
  for (const text of rest) {
    if (quoted.length + text.length > 900) break;
    quoted += `\n\n${text}`;
  }
  return blockQuote(quoted);
}

export function blockQuote(text: string): string {
  return text.replace(/^(?=(.?))/gm, (_start, first: string) => (first === '' ? '>' : '> '));
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
