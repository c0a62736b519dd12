import { realpath } from 'node:fs/promises';
import { extname } from 'node:path';
import { pathToFileURL } from 'node:url';
import { isHomeOrRoot } from '../../protocol/base/platform/folders.ts';
import type { FoundFile, SearchFilesParams, SearchFilesResult } from '../../protocol/messages/files.ts';
import type { FindPrivacy } from '../base/filePrivacy.ts';
import { readRegularBytes } from '../base/regularFile.ts';
import { usualTokens } from '../chat/turnWindow.ts';
import { filesOf, Omissions } from './folderFiles.ts';
import { bestExcerpts, type Excerpt, type FileHits, hitsIn } from './searchHits.ts';

/** In bytes. Larger files are seldom written by hand. */
const maxFile = 512 * 1024;
/** For one search: bytes that are read, and hits that are kept. */
const maxRead = 64 * 1024 * 1024;
const maxHits = 200_000;

interface FileSearchOptions {
  readonly findPrivacy: FindPrivacy;
  readonly now: () => number;
  readonly signal: AbortSignal;
}

/**
 * The excerpts of the files below a folder that have most of the words of a question, best first. Private files are
 * not read, and what programs made is passed over, as in a folder that a prompt names.
 */
export async function searchFiles(
  { text, cwd, tokens }: SearchFilesParams,
  options: FileSearchOptions,
): Promise<SearchFilesResult> {
  const words = soughtWords(text);
  const root = await realpath(cwd).catch(() => undefined);
  if (words.length === 0) return { files: [], notes: ['The question has no words to search for.'] };
  if (root === undefined || (await isHomeOrRoot(root)))
    return { files: [], notes: [`${cwd} is too much to search, or is not there.`] };
  const left = new Omissions();
  const found = await readHits(words, { ...options, root, left });
  const files: FoundFile[] = [];
  let room = tokens;
  for (const excerpt of bestExcerpts(found, words.length)) {
    const file = await attachedExcerpt(excerpt);
    if (file === undefined || file.tokens > room) continue;
    room -= file.tokens;
    files.push(file);
  }
  return { files, notes: left.rest === undefined ? [] : [`Not searched: ${left.rest}.`] };
}

interface HitReading extends FileSearchOptions {
  readonly root: string;
  readonly left: Omissions;
}

async function readHits(words: readonly string[], reading: HitReading): Promise<readonly FileHits[]> {
  const { findPrivacy, left } = reading;
  const found: FileHits[] = [];
  let [bytes, count] = [0, 0];
  for await (const { name, path } of filesOf({ ...reading, isWanted: () => true, depth: maxDepth })) {
    if (await findPrivacy(path)) continue;
    const text = await readText(path);
    if (text === undefined) continue;
    bytes += text.length;
    if (bytes > maxRead || count > maxHits) {
      left.stop('the rest of very many files');
      break;
    }
    const hits = hitsIn({ name, path, text }, words);
    if (hits === undefined) continue;
    count += hits.hits.length;
    found.push(hits);
  }
  return found;
}

/** Deeper folders are not made by hand. */
const maxDepth = 30;

/** Undefined if it is no text, or too large. */
async function readText(path: string): Promise<string | undefined> {
  const bytes = await readRegularBytes(path, maxFile).catch(() => undefined);
  return bytes === undefined || bytes.includes(0) ? undefined : bytes.toString('utf8');
}

/** Read again, so that a search keeps no texts. */
async function attachedExcerpt({ name, path, first, last }: Excerpt): Promise<FoundFile | undefined> {
  const whole = await readText(path);
  const lines = firstLines(whole?.split('\n').slice(first, last + 1) ?? []);
  const text = lines.join('\n');
  if (text === '') return undefined;
  const language = extname(name).slice(1);
  const attachment = {
    path: name,
    lines: `${first + 1}-${first + lines.length}`,
    text,
    uris: [pathToFileURL(path).href],
    automatic: true,
    ...(/^\w{1,20}$/.test(language) ? { language } : {}),
  };
  const tokens = usualTokens({ characters: text.length + name.length, images: 0 });
  return { path: name, bytes: Buffer.byteLength(text), tokens, attachment };
}

/** In characters: prose has long lines, and one excerpt must not take the room of all others. */
const maxExcerpt = 3_000;

/** The hits stand at the beginning. */
function firstLines(lines: readonly string[]): readonly string[] {
  let room = maxExcerpt;
  const end = lines.findIndex((line) => {
    room -= line.length;
    return room < 0;
  });
  return end < 0 ? lines : lines.slice(0, Math.max(1, end));
}

/** At most this many words of a question are looked for. */
const maxWords = 24;
/** In characters: the end of a longer question says no more about it. */
const maxText = 4_000;

/**
 * The words of a question that are worth looking for, in lower case and without their endings, so that `handled` finds
 * `handler`. A name in code counts as a whole and by its parts.
 */
export function soughtWords(text: string): readonly string[] {
  const words = [...text.slice(0, maxText).matchAll(/[\p{L}\p{N}_$]+/gu)].flatMap(([word]) => partsOf(word));
  const sought = words.filter((word) => word.length > 2 && !common.has(word)).map(stemOf);
  return [...new Set(sought)].slice(0, maxWords);
}

/** `readUserFile` is also `read`, `user` and `file`. */
function partsOf(word: string): readonly string[] {
  const parts = word.match(/\p{Lu}+(?!\p{Ll})|\p{Lu}?\p{Ll}+|[^\p{Lu}\p{Ll}_$]+/gu) ?? [];
  return [...(parts.length > 1 ? [word] : []), ...parts].map((part) => part.toLowerCase());
}

function stemOf(word: string): string {
  const [, stem = word] = /^(.{3,}?)(?:ing|ied|ies|ed|es|ers?|s|e|y)$/.exec(word) ?? [];
  return stem;
}

/** Words that questions have and that say nothing about what is asked. */
const common: ReadonlySet<string> = new Set(
  `about after all also and any are because been before being between both but can codebase could did does done each
  explain file files find for from get give had has have here how into its just know like list look made make many may
  mean might more most much must need not now off one only other our out over please project shall should show some
  such tell than that the their them then there these they this those through under use used uses using very want was
  way were what when where whether which while who whose why will with within without work works would write you your`.split(
    /\s+/,
  ),
);
