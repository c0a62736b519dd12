import { LruCache } from '../base/lruCache.ts';
import type { Document } from '../content/document.ts';
import { type InsideTarget, resolveLink } from '../content/links.ts';
import { Unrenderable } from './renderJob.ts';

/** What a document may link to or show, as paths from the content folder. */
export interface References {
  readonly documents: readonly string[];
  readonly assets: readonly string[];
}

/** At most this many matches of a pattern are examined, so that no document holds up the service. */
const most = 20_000;

/** Each file costs a look at the disk or at the index. */
const mostFiles = 2_000;

/**
 * Everywhere that Markdown or raw HTML may have an address: too many are better than too few. Each match is bounded.
 */
const patterns = [
  /\]\([ \t\n]{0,10}<?([^)\s>]{1,2048})/g,
  /\]\([ \t\n]{0,10}([^()\s<>]{0,2048}\([^()\s<>]{0,2048}\)[^()\s<>]{0,2048})/g,
  /\]\([ \t\n]{0,10}<([^<>\n]{1,2048})>/g,
  /^ {0,3}\[[^\]\n]{1,999}\]:[ \t\n]{0,10}<([^<>\n]{1,2048})>/gm,
  /^ {0,3}\[[^\]\n]{1,999}\]:[ \t\n]{0,10}<?([^\s>]{1,2048})/gm,
  /\b(?:src|href)=["']?([^"'\s>]{1,2048})/gi,
  /\b(?:src|href)=["']([^"'<>\n]{1,2048})["']/gi,
];

/** The number of documents whose references are cached. */
const remembered = 200_000;

/** Reads each version of a document once. Throws `Unrenderable` if the document refers to too many files. */
export function createReferenceFinder(): (document: Document) => References {
  const known = new LruCache<References | Unrenderable>(remembered);
  return ({ body, path, contentHash }) => {
    const key = `${contentHash} ${path}`;
    const found = known.get(key) ?? findReferences(body, path);
    if (found instanceof Unrenderable) {
      known.set(key, found, 1);
      throw found;
    }
    known.set(key, found, found.documents.length + found.assets.length + 1);
    return found;
  };
}

/** Finds, in one pass and without parsing the Markdown, what the rendering of a document can depend on. */
function findReferences(body: string, path: string): References | Unrenderable {
  const targets = new Map<string, InsideTarget>();
  for (const href of hrefs(body)) {
    const target = resolveLink(href, path);
    if (target.kind === 'inside') targets.set(`${target.path} ${target.documents.length}`, target);
    if (targets.size > mostFiles) {
      return new Unrenderable(
        `The document refers to more than ${mostFiles.toLocaleString('en')} files. Split it into several documents.`,
      );
    }
  }
  const inside = [...targets.values()];
  const documents = new Set(inside.flatMap((target) => target.documents));
  const assets = inside.map((target) => target.path).filter((path) => path !== '' && !documents.has(path));
  return { documents: [...documents].sort(), assets: assets.sort() };
}

/** Marked leaves out the backslash before a sign. */
const escapes = /\\([!-/:-@[-`{-~])/g;

/** Each address once, as Marked returns it. */
function hrefs(body: string): ReadonlySet<string> {
  const found = new Set<string>();
  for (const pattern of patterns) {
    let matches = 0;
    for (const [, href = ''] of body.matchAll(pattern)) {
      found.add(href.includes('\\') ? href.replace(escapes, '$1') : href);
      if (++matches === most) break;
    }
  }
  return found;
}
