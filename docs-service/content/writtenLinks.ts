import { attributeIn, headingAnchors, writtenIds } from './headings.ts';
import { resolveLink } from './links.ts';
import { withoutCode } from './markdownLines.ts';

/** What the check of links needs of a file. It is kept in the index, so that an unchanged file is not read again. */
export interface FileLinks {
  /** The places that a link can lead to; null if there are too many to keep. */
  readonly anchors: readonly string[] | null;
  /** Links and pictures that lead to a place in the content folder, in the order of their lines. */
  readonly links: readonly WrittenLink[];
}

export interface WrittenLink {
  /** Counted from 1, the first line of the file. */
  readonly line: number;
  /** As it was written. */
  readonly href: string;
  readonly isPicture?: true;
}

/** In characters. Text beyond it is not checked, so that no file delays the others. */
const maxTextLength = 1_000_000;
/** The most places in a file, including those that lead elsewhere. */
const maxPlaces = 20_000;
/** Further links are not checked, as in a document that refers to too many files. */
const maxLinks = 2_000;
const maxAnchors = 2_000;
const maxOpen = 1_000;

/**
 * Finds the links, pictures and anchors of a Markdown text, in linear time and without a parser.
 * @param path of the file, from the content folder
 * @param lineOf the line of the file for a line of the text
 * @param known the text without its code, if it is there already
 */
export function findWrittenLinks(
  path: string,
  whole: string,
  lineOf: (line: number) => number,
  known?: string,
): FileLinks {
  const text = whole.slice(0, maxTextLength);
  const prose = (text === whole ? known : undefined) ?? withoutCode(text);
  const places = [...markdownPlaces(prose), ...htmlPlaces(prose)]
    .filter(({ href }) => {
      const target = resolveLink(href, path);
      return target.kind === 'inside' || (target.kind === 'fragment' && target.fragment !== '');
    })
    .sort((one, other) => one.at - other.at)
    .slice(0, maxLinks);
  const anchors = text === whole ? anchorsIn(text, prose) : null;
  return { anchors, links: withLines(places, prose, lineOf) };
}

interface LinkPosition {
  readonly at: number;
  readonly href: string;
  readonly isPicture: boolean;
}

function withLines(
  places: readonly LinkPosition[],
  text: string,
  lineOf: (line: number) => number,
): readonly WrittenLink[] {
  let line = 1;
  let from = 0;
  return places.map(({ at, href, isPicture }) => {
    for (let end = text.indexOf('\n', from); end >= 0 && end < at; end = text.indexOf('\n', from)) {
      line += 1;
      from = end + 1;
    }
    return { line: lineOf(line), href, ...(isPicture ? { isPicture } : {}) };
  });
}

const definition =
  /^[ \t>]*\[([^\]\n^][^\]\n]{0,998})\]:[ \t]*\n?[ \t]*(?:<([^<>\n]{1,2048})>|([^\s<]\S{0,2047}))/gm;

/** Links with brackets, which may use an address that is defined elsewhere. */
function markdownPlaces(prose: string): readonly LinkPosition[] {
  const defined = new Map<string, string>();
  const text = prose.replace(definition, (all, label, bracketed, plain) => {
    if (!defined.has(labelOf(label))) defined.set(labelOf(label), unescaped(bracketed ?? plain));
    return all.replace(/[^\n]/g, ' ');
  });
  const places: LinkPosition[] = [];
  const open: { readonly at: number; readonly isPicture: boolean }[] = [];
  /** Links do not nest: this many of the open brackets already contain one. */
  let taken = 0;
  const marks = /\\.|!?\[|\]|\n[ \t]*\n/gs;
  for (let mark = marks.exec(text); mark !== null && places.length < maxPlaces; mark = marks.exec(text)) {
    const [sign] = mark;
    const isPicture = sign === '![';
    if (sign.startsWith('\n')) open.length = 0;
    if ((isPicture || sign === '[') && open.length < maxOpen) open.push({ at: mark.index, isPicture });
    const opening = sign === ']' ? open.pop() : undefined;
    const isTaken = open.length < taken;
    taken = Math.min(taken, open.length);
    if (opening === undefined || (isTaken && !opening.isPicture)) continue;
    const start = opening.at + (opening.isPicture ? 2 : 1);
    const found = destinationAfter(text, { start, end: mark.index }, defined);
    if (found === undefined) continue;
    places.push({ ...opening, href: found.href });
    marks.lastIndex = found.end;
    if (!opening.isPicture) taken = open.length;
  }
  return places;
}

const inline =
  /\([ \t]*\n?[ \t]*(?:<([^<>\n]{0,2048})>|((?:\\[^\s]|[^\s()<>\\]|\((?:\\[^\s]|[^\s()\\]){0,2048}\)){0,2048}))(?:[ \t]*\n?[ \t]*(?:"[^"]{0,1000}"|'[^']{0,1000}'|\([^()]{0,1000}\)))?[ \t]*\n?[ \t]*\)/y;
const reference = /\[([^[\]]{0,999})\]/y;

/** Where the text between two brackets leads, and where that link ends. */
function destinationAfter(
  text: string,
  { start, end }: { readonly start: number; readonly end: number },
  defined: ReadonlyMap<string, string>,
): { readonly href: string; readonly end: number } | undefined {
  inline.lastIndex = end + 1;
  const written = inline.exec(text);
  if (written !== null) return { href: unescaped(written[1] ?? written[2] ?? ''), end: inline.lastIndex };
  if (defined.size === 0 || end - start > 999) return undefined;
  reference.lastIndex = end + 1;
  const label = reference.exec(text);
  const href = defined.get(labelOf(label?.[1] || text.slice(start, end)));
  return href === undefined ? undefined : { href, end: label === null ? end + 1 : reference.lastIndex };
}

function labelOf(text: string): string {
  return text.trim().replace(/\s+/g, ' ').toLowerCase();
}

function unescaped(href: string): string {
  return href.replace(/\\([!-/:-@[-`{-~])/g, '$1');
}

function htmlPlaces(prose: string): readonly LinkPosition[] {
  return Array.from(
    prose.matchAll(/<(a|img)\s([^<>]{1,4096})>/gi),
    ({ index, 1: name, 2: attributes = '' }) => {
      const isPicture = name?.toLowerCase() === 'img';
      return { at: index, href: attributeIn(attributes, isPicture ? 'src' : 'href') ?? '', isPicture };
    },
  );
}

/** The ids of headings, as the service makes them and as their texts name them, and those that raw HTML has. */
function anchorsIn(text: string, prose: string): readonly string[] | null {
  const anchors = new Set(writtenIds(prose));
  for (const { id, text: heading, isNamed } of headingAnchors(text, prose)) {
    anchors.add(id);
    if (isNamed) anchors.add(heading);
    if (anchors.size > maxAnchors) return null;
  }
  return [...anchors];
}
