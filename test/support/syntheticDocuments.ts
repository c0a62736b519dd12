import type { Document } from '../../docs-service/content/document.ts';

/** A library that is the same each time, with words as unevenly distributed as in a language. */
export interface Synthesis {
  /** About 2.6 KB of Markdown. */
  document(number: number): Document;
  readonly rare: readonly string[];
  readonly middling: readonly string[];
  readonly common: readonly string[];
  /** Of two words each, which stand in some document. */
  readonly phrases: readonly string[];
  /** The slug of one that every fourth document has. */
  readonly tag: string;
}

const vocabularySize = 50_000;

export function createSynthesis(): Synthesis {
  const vocabulary = Array.from({ length: vocabularySize }, (_, rank) => wordOf(rank));
  const at = (...ranks: readonly number[]) => ranks.map((rank) => vocabulary[rank] ?? '');
  const document = (number: number) => documentOf(number, vocabulary);
  return {
    document,
    rare: Array.from({ length: 50 }, (_, index) => vocabulary[20_000 + index * 311] ?? ''),
    middling: Array.from({ length: 50 }, (_, index) => vocabulary[300 + index * 37] ?? ''),
    common: at(0, 1, 2, 3, 4, 5, 6, 7, 8, 9),
    phrases: Array.from({ length: 50 }, (_, index) => phraseOf(document(index))),
    tag: 'tag-1',
  };
}

function documentOf(number: number, vocabulary: readonly string[]): Document {
  const random = createRandom(number + 1);
  const words = (count: number) =>
    Array.from({ length: count }, () => vocabulary[zipf(random())] ?? '').join(' ');
  const section = () =>
    `## ${words(3)}\n\n${words(55)}.\n\n- ${words(8)}\n- ${words(7)}\n\n\`\`\`js\n${words(6)}\n\`\`\`\n`;
  const title = words(4);
  // Slugs do not ascend with the numbers, as those of a real library do not with its paths.
  const slug = `${wordOf(Math.floor(random() * 1e6))}-${number}`;
  const day = new Date(Date.UTC(2000, 0, 1 + Math.floor(random() * 9_000))).toISOString().slice(0, 10);
  const tags = [`tag-${number % 4}`, `tag-${4 + (number % 50)}`];
  return {
    slug,
    title,
    type: number % 3 === 0 ? 'guide' : 'reference',
    tags: tags.map((slug) => ({ slug, title: slug })),
    date: number % 10 === 0 ? null : day,
    updated: null,
    lang: 'en',
    authors: ['Someone'],
    description: null,
    cover: null,
    draft: number % 100 === 0,
    contentHash: String(number),
    path: `${Math.floor(number / 100)}/${number}.md`,
    body: `# ${title}\n\n${Array.from({ length: 4 }, section).join('\n')}`,
  };
}

function phraseOf({ body }: Document): string {
  return /\n\n(?<one>[a-z]+ [a-z]+)/.exec(body)?.groups?.['one'] ?? '';
}

/** The rank of a word: that of the first is about 1 in 11. */
function zipf(random: number): number {
  return Math.floor(vocabularySize ** random) - 1;
}

function wordOf(rank: number): string {
  const syllables = ['ka', 'lo', 'mi', 'ne', 'ru', 'so', 'ta', 'vi', 'pe', 'do'];
  return [...String(rank + 10)].map((digit) => syllables[Number(digit)] ?? '').join('');
}

/** Numbers from 0 up to 1 (mulberry32). */
function createRandom(seed: number): () => number {
  let state = seed * 0x9e3779b9;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}
