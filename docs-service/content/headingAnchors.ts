import GithubSlugger from 'github-slugger';
import { Lexer } from 'marked';
import { withCjkRules } from './cjkRules.ts';
import { decodeEntities, plainText } from './plainText.ts';
import { textOfHeading, tryRawHeading } from './rawHeading.ts';
import { withoutCode } from './withoutCode.ts';

/** A heading with the id that a link to it names. */
export interface HeadingAnchor {
  readonly id: string;
  /** What a reader sees of it. */
  readonly text: string;
  /** Where it begins, counted from 0. */
  readonly line: number;
  /** Whether it is in a quote or a list. */
  readonly isInside: boolean;
}

/**
 * The headings of a Markdown text with their ids, those of GitHub, in linear time and without a parser.
 * @param prose the text without its code, if it is there already
 */
export function* headingAnchors(text: string, prose: string = withoutCode(text)): Generator<HeadingAnchor> {
  const slugger = new GithubSlugger();
  for (const heading of writtenHeadings(text, prose))
    yield { ...heading, id: slugger.slug(heading.text) || slugger.slug('section') };
}

/** Without their marks. */
function* writtenHeadings(text: string, prose: string): Generator<Omit<HeadingAnchor, 'id'>> {
  const raw = tryRawHeadingText(text);
  if (raw !== undefined) yield { text: raw, line: 0, isInside: false };
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
        text: shownText(rest.slice(mark.length).replace(/(?:^|[ \t]+)#+$/, '')),
        line,
        isInside: prefix.trim() !== '' || /^(?: {4}|\t)/.test(prefix),
      };
    else if (isProse && paragraph !== '' && /^ {0,3}(?:=+|-+)[ \t\r]*$/.test(written))
      yield { text: shownText(paragraph), line: begin, isInside: false };
    const goesOn =
      isProse && mark === undefined && !/[-*+.)][ \t]+$/.test(prefix) && !/^(?:\||[-=]+$)/.test(rest);
    if (paragraph === '') begin = line;
    paragraph = goesOn ? `${paragraph} ${rest}`.trim().slice(0, maxHeadingLength) : '';
  }
}

/** In characters. */
const maxHeadingLength = 500;

/** The text of the raw HTML heading with which a document may begin, unless it is only a picture. */
function tryRawHeadingText(text: string): string | undefined {
  const heading = tryRawHeading(text);
  const hasText = heading?.pieces.some(({ kind, raw }) => kind === 'text' && raw.trim() !== '');
  return heading && hasText ? decodeEntities(textOfHeading(heading)).replace(/\s+/g, ' ').trim() : undefined;
}

function shownText(heading: string): string {
  if (!/[\\`*_~[\]<>&!]|:\/\//.test(heading)) return heading.trim();
  // Footnotes and addresses that are defined elsewhere are unknown here.
  const plain = heading.replace(/\[\^[^\]]*\]/g, '').replace(/\[([^\]]*)\]\[[^\]]*\]/g, '$1');
  return plainText(withCjkRules(new Lexer()).inlineTokens(plain)).trim();
}
