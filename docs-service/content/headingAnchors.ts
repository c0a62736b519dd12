import GithubSlugger from 'github-slugger';
import { inlineTokens } from './cjkRules.ts';
import { decodeEntities, plainText } from './plainText.ts';
import { withoutCode } from './withoutCode.ts';

/** A heading with the id that a link to it names. */
export interface HeadingAnchor {
  readonly id: string;
  readonly text: string;
  readonly line: number;
  /** Whether it is in a quote or a list. */
  readonly isInside: boolean;
  /** Whether its author wrote the id. */
  readonly isNamed: boolean;
}

/**
 * The headings of a Markdown text with their ids, those of GitHub, in linear time and without a parser.
 * @param prose the text without its code, if it is there already
 */
export function* headingAnchors(text: string, prose: string = withoutCode(text)): Generator<HeadingAnchor> {
  const slugger = createSlugger(writtenIds(prose));
  for (const { own, ...heading } of writtenHeadings(text, prose))
    yield {
      ...heading,
      isNamed: own !== undefined,
      id: own ?? (slugger.slug(heading.text) || slugger.slug('section')),
    };
}

/** The ids and names in the raw HTML of a text, each once. Code in it must be blank. */
export function writtenIds(prose: string): ReadonlySet<string> {
  const ids = new Set<string>();
  if (!/\s(?:id|name)\s*=/i.test(prose)) return ids;
  for (const [, attributes = ''] of prose.matchAll(/<[a-z]\w*\s([^<>]{1,2048})>/gi)) {
    for (const name of ['id', 'name'] as const) {
      const id = attributeIn(attributes, name);
      if (id !== undefined) ids.add(cleanId(id));
    }
    if (ids.size > maxIds) break;
  }
  return ids;
}

const maxIds = 10_000;

/** Gives automatic ids, none of which an author has written. */
export function createSlugger(written: Iterable<string>): GithubSlugger {
  const slugger = new GithubSlugger();
  for (const id of written) slugger.occurrences[id] = 0;
  return slugger;
}

/** The id that a tag of raw HTML gives to its place; undefined if it is no opening tag with an id. */
export function tryIdOf(html: string): string | undefined {
  const [, attributes] = /^<[a-z]\w*\s([^<>]{1,2048})>/i.exec(html) ?? [];
  const id = attributes && (attributeIn(attributes, 'id') ?? attributeIn(attributes, 'name'));
  return id ? cleanId(id) : undefined;
}

/** An id as it may be in a page: letters, digits, `-`, `_` and `.`. */
export function cleanId(written: string): string {
  return decodeEntities(written)
    .replace(/[^\p{L}\p{M}\p{N}._-]+/gu, '-')
    .slice(0, 200);
}

export function attributeIn(attributes: string, name: string): string | undefined {
  const found = new RegExp(`(?:^|\\s)${name}\\s*=\\s*(?:"([^"]*)"|'([^']*)'|([^\\s"']+))`, 'i').exec(
    attributes,
  );
  return found?.[1] ?? found?.[2] ?? found?.[3];
}

function* writtenHeadings(text: string, prose: string) {
  const [lines, proseLines] = [text.split('\n'), prose.split('\n')];
  let paragraph = '';
  let begin = 0;
  for (const [line, written] of lines.entries()) {
    const [prefix = ''] = /^[ \t]*(?:(?:>|[-*+]|\d{1,9}[.)])[ \t]+|>)*/.exec(written) ?? [];
    const rest = written.slice(prefix.length, prefix.length + maxHeadingLength).trim();
    const isProse = (proseLines[line] ?? '').trim() !== '';
    const [mark] = /^#{1,6}(?:[ \t]+|$)/.exec(rest) ?? [];
    if (isProse && mark !== undefined)
      yield {
        ...shownText(rest.slice(mark.length).replace(/(?:^|[ \t]+)#+$/, '')),
        line,
        isInside: prefix.trim() !== '' || /^(?: {4}|\t)/.test(prefix),
      };
    else if (isProse && paragraph !== '' && /^ {0,3}(?:=+|-+)[ \t\r]*$/.test(written))
      yield { ...shownText(paragraph), line: begin, isInside: false };
    const goesOn =
      isProse && mark === undefined && !/[-*+.)][ \t]+$/.test(prefix) && !/^(?:\||[-=]+$)/.test(rest);
    if (paragraph === '') begin = line;
    paragraph = goesOn ? `${paragraph} ${rest}`.trim().slice(0, maxHeadingLength) : '';
  }
}

const maxHeadingLength = 500;

/** With the id that its author wrote, if there is one. */
function shownText(heading: string): { readonly text: string; readonly own?: string | undefined } {
  if (!/[\\`*_~[\]<>&!]|:\/\//.test(heading)) return { text: heading.trim() };
  const own = heading.includes('<')
    ? tryIdOf(heading.slice(heading.search(/<[a-z]\w*\s[^<>]*\b(?:id|name)\s*=/i)))
    : undefined;
  // Footnotes and addresses that are defined elsewhere are unknown here.
  const plain = heading.replace(/\[\^[^\]]*\]/g, '').replace(/\[([^\]]*)\]\[[^\]]*\]/g, '$1');
  return { text: plainText(inlineTokens(plain)).trim(), own };
}
