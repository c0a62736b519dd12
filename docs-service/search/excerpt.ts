import type { Document } from '../content/document.ts';
import { type HeadingAnchor, headingAnchors } from '../content/headingAnchors.ts';
import { isTitle } from '../content/headings.ts';
import { sectionsOf } from '../content/sections.ts';
import { withoutScripts } from '../content/withoutCode.ts';
import type { Clause, SearchHit } from './documentIndex.ts';
import { lineAt, snippet } from './snippet.ts';

type HitText = Pick<Document, 'title' | 'body'>;

/**
 * What a hit shows of its document. What is near in meaning comes before words that are far from each other, because a
 * question has many words that say little.
 */
export function excerptOf(
  { title, body }: HitText,
  clauses: readonly Clause[],
  { matched, place }: Pick<SearchHit, 'matched'> & { readonly place: number | undefined },
): Pick<SearchHit, 'snippet' | 'section'> {
  const words = matched === 'meaning' ? undefined : snippet(body, clauses);
  // The document may have changed since its sections were compared.
  const near = place === undefined ? undefined : sectionsOf(body)[place];
  // Single words of the question say little where they did not find the document: then it is the beginning.
  const meaning = near && snippet(near.text, words ? clauses : []);
  const isNear = meaning && (!words || words.parts < clauses.length || meaning.parts === words.parts);
  const { text, line } = isNear ? meaning : (words ?? snippet(body, clauses));
  // Scripts are removed without their line ends.
  const found = near && isNear ? lineAt(withoutScripts(body), near.start) : line;
  return { snippet: text, section: found === undefined ? null : sectionAt({ title, body }, found) };
}

/** The section that has a line. Above the first heading, and below the title alone, there is none. */
function sectionAt({ title, body }: HitText, line: number): SearchHit['section'] {
  let section: SearchHit['section'] = null;
  for (const [number, heading] of headingsUpTo(body, line).entries()) {
    const { id, text, isInside } = heading;
    if (number === 0 && isTitle(text, title)) continue;
    if (!isInside && text !== '') section = { id, title: text };
  }
  return section;
}

function headingsUpTo(body: string, line: number): readonly HeadingAnchor[] {
  let end = -1;
  // The line after it may underline a heading.
  for (let left = line + 2; left > 0; left--) {
    end = body.indexOf('\n', end + 1);
    if (end < 0) break;
  }
  return [...headingAnchors(end < 0 ? body : body.slice(0, end))].filter((heading) => heading.line <= line);
}
