import { setImmediate } from 'node:timers/promises';
import { parseModelName } from '../models/name.ts';
import { createCardReader } from './cardReader.ts';
import { cleanModels, type ListedModel } from './listedModel.ts';

/** Characters between two looks at everything else that the daemon does: some milliseconds. */
const pieceLength = 64 * 1024;
/** Ends what a page leaves open in its last tag or entity, which the parser else gives out by where the cuts were. */
const afterPage = '<!---->';

/**
 * The models that the library's page at `url` links to. Whatever the page is, it is read in linear time and without
 * an error: the page is a stranger's text, and there is no other list of the library.
 */
export async function readLibraryPage(
  page: string,
  url: string,
  signal: AbortSignal,
): Promise<readonly ListedModel[]> {
  const pieces: string[] = [];
  for (let at = 0; at < page.length; at += pieceLength) pieces.push(page.slice(at, at + pieceLength));
  return readPieces(pieces, url, signal);
}

/** The same for a page in pieces; where they were cut makes no difference. */
export async function readPieces(
  pieces: Iterable<string>,
  url: string,
  signal: AbortSignal,
): Promise<readonly ListedModel[]> {
  const { Parser } = await import('htmlparser2');
  const address = new URL(url);
  const cards = createCardReader((href) => modelOfLink(href, address));
  const parser = new Parser(cards.handler);
  for (const piece of pieces) {
    parser.write(piece);
    if (cards.isFull) break;
    await setImmediate();
    signal.throwIfAborted();
  }
  if (!cards.isFull) parser.end(afterPage);
  return cleanModels(cards.end());
}

/** The model that a link of the page at `url` is about: its path ends in `/library/NAME`, on the page's own host. */
function modelOfLink(href: string, url: URL): string | undefined {
  if (!URL.canParse(href, url.href)) return undefined;
  const { host, protocol, pathname } = new URL(href, url);
  if (host !== url.host || !/^https?:$/.test(protocol)) return undefined;
  const name = /\/library\/([^/]+)$/.exec(pathname)?.[1];
  return name !== undefined && isBareName(name) ? name : undefined;
}

function isBareName(name: string): boolean {
  try {
    return parseModelName(name).model === name;
  } catch {
    return false;
  }
}
