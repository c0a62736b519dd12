/** Where the words of a question stand in a file. */
export interface FileHits {
  /** Relative to the folder. */
  readonly name: string;
  readonly path: string;
  /** Number of its last line, from 0. */
  readonly lastLine: number;
  /** In the order of the lines. */
  readonly hits: readonly Hit[];
  /** The words that its name has. */
  readonly inName: readonly number[];
}

interface Hit {
  /** From 0. */
  readonly line: number;
  /** The index of the word. */
  readonly word: number;
}

/** More hits of one word in a file say no more about it. */
const maxHits = 200;
/** In characters: a file with longer lines, on average, was made by a program. */
const maxLine = 400;

/** Undefined if it has none of the words. */
export function hitsIn(
  { name, path, text }: { readonly name: string; readonly path: string; readonly text: string },
  words: readonly string[],
): FileHits | undefined {
  const lower = lowerCase(text);
  const ends = lineEnds(text);
  if (text.length > maxLine * ends.length) return undefined;
  const hits = words.flatMap((sought, word) =>
    linesWith(sought, { text, lower, ends }).map((line): Hit => ({ line, word })),
  );
  if (hits.length === 0) return undefined;
  const inName = words.flatMap((sought, word) => (isIn(sought, name) ? [word] : []));
  hits.sort((a, b) => a.line - b.line);
  return { name, path, lastLine: ends.length - 1, hits, inName };
}

/** Some letters have more units in lower case; then the places would be wrong. */
function lowerCase(text: string): string {
  const lower = text.toLowerCase();
  return lower.length === text.length ? lower : text;
}

function lineEnds(text: string): readonly number[] {
  const ends: number[] = [];
  for (let at = text.indexOf('\n'); at >= 0; at = text.indexOf('\n', at + 1)) ends.push(at);
  return [...ends, text.length];
}

/** The lines in which a word begins with what is sought, each once. */
function linesWith(
  sought: string,
  { text, lower, ends }: { readonly text: string; readonly lower: string; readonly ends: readonly number[] },
): readonly number[] {
  const lines: number[] = [];
  let line = 0;
  for (let at = lower.indexOf(sought); at >= 0 && lines.length < maxHits; ) {
    while (at > (ends[line] ?? text.length)) line++;
    const isHit = isWordStart(text, at);
    if (isHit) lines.push(line);
    at = lower.indexOf(sought, isHit ? (ends[line] ?? text.length) : at + 1);
  }
  return lines;
}

function isWordStart(text: string, at: number): boolean {
  const before = text[at - 1] ?? ' ';
  return !/[\p{L}\p{N}]/u.test(before) || (/\p{Lu}/u.test(text[at] ?? '') && !/\p{Lu}/u.test(before));
}

function isIn(sought: string, name: string): boolean {
  return linesWith(sought, { text: name, lower: lowerCase(name), ends: [name.length] }).length > 0;
}

export interface Excerpt {
  readonly name: string;
  readonly path: string;
  /** From 0; the last one is included. */
  readonly first: number;
  readonly last: number;
}

/** In lines: what is around the hits of an excerpt, and how far apart they may be. */
const around = 4;
const maxSpan = 40;
const maxExcerpts = 16;
const maxOfFile = 3;
/** What has less than this part of the best score is no answer. */
const leastPart = 0.35;

/** The excerpts with the rarest words and most of them, best first. `count` is the number of words. */
export function bestExcerpts(files: readonly FileHits[], count: number): readonly Excerpt[] {
  const weights = Array.from({ length: count }, (_, word) => weightOf(word, files));
  const scored = files.flatMap((file) => bestOfFile(file, weights));
  scored.sort((a, b) => b.score - a.score || (a.name < b.name ? -1 : 1));
  const least = (scored[0]?.score ?? 0) * leastPart;
  return scored.filter(({ score }) => score >= least).slice(0, maxExcerpts);
}

/** A word that few of the files have says more. */
function weightOf(word: number, files: readonly FileHits[]): number {
  const having = files.filter(({ hits }) => hits.some((hit) => hit.word === word)).length;
  return Math.log(1 + files.length / (having + 0.5));
}

type ScoredExcerpt = Excerpt & { readonly score: number };

/** The best excerpts of a file that do not overlap. */
function bestOfFile(file: FileHits, weights: readonly number[]): readonly ScoredExcerpt[] {
  const spans = spansOf(file, weights).sort((a, b) => b.score - a.score || a.first - b.first);
  const taken: ScoredExcerpt[] = [];
  for (const span of spans) {
    if (taken.length === maxOfFile) break;
    if (taken.every(({ first, last }) => span.last < first || span.first > last)) taken.push(span);
  }
  return taken;
}

/** One span for each hit: it begins there, and ends with the last hit in reach. */
function spansOf(
  { name, path, hits, inName, lastLine }: FileHits,
  weights: readonly number[],
): ScoredExcerpt[] {
  const named = inName.reduce((sum, word) => sum + 0.7 * (weights[word] ?? 0), 0);
  return hits.flatMap(({ line }, at) => {
    if (hits[at - 1]?.line === line) return [];
    const inReach = hits.slice(at, at + 4 * maxSpan).filter((hit) => hit.line < line + maxSpan);
    const counts = new Map<number, number>();
    for (const { word } of inReach) counts.set(word, (counts.get(word) ?? 0) + 1);
    const score = [...counts].reduce(
      (sum, [word, times]) => sum + (weights[word] ?? 0) * (1 + 0.25 * Math.log(times)),
      named,
    );
    const first = Math.max(0, line - around);
    const last = Math.min(lastLine, (inReach.at(-1)?.line ?? line) + around);
    return [{ name, path, first, last, score }];
  });
}
