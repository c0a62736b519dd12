import { setImmediate } from 'node:timers/promises';
import { parseModelName } from '../models/name.ts';
import { createCardReader } from './cardReader.ts';
import { cleanModels, type ListedModel } from './listedModel.ts';

/** How many characters are read before other work gets its turn: a few milliseconds. */
const pieceLength = 64 * 1024;
/** Closes what a page leaves open in its last tag or entity. Otherwise the parser's output would depend on the cuts. */
const afterPage = '<!---->';

/**
 * The models that the library's page at `url` links to. Any page is read in linear time and without an error: it is a
 * stranger's text, and there is no other list of the library.
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

/** The same for a page in pieces. The places of the cuts make no difference. */
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

/** The model that a link on the page at `url` leads to. Its path ends in `/library/NAME`, on the page's own host. */
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
