import type { Document } from '../content/document.ts';
import { LruCache } from '../lruCache.ts';
import { resolveLink } from './markdown/links.ts';
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
  /^ {0,3}\[[^\]\n]{1,999}\]:[ \t\n]{0,10}<?([^\s>]{1,2048})/gm,
  /\b(?:src|href)=["']?([^"'\s>]{1,2048})/gi,
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
  const documents = new Set<string>();
  const assets = new Set<string>();
  for (const href of hrefs(body)) {
    const target = resolveLink(href, path);
    if (target.kind === 'document') documents.add(target.path);
    else if (target.kind === 'asset') assets.add(target.path);
    if (documents.size + assets.size > mostFiles) {
      return new Unrenderable(
        `The document refers to more than ${mostFiles.toLocaleString('en')} files. Split it into several documents.`,
      );
    }
  }
  return { documents: [...documents].sort(), assets: [...assets].sort() };
}

/** Each address once, as the author wrote it. */
function hrefs(body: string): ReadonlySet<string> {
  const found = new Set<string>();
  for (const pattern of patterns) {
    let matches = 0;
    for (const [, href = ''] of body.matchAll(pattern)) {
      found.add(href);
      if (++matches === most) break;
    }
  }
  return found;
}
