import { slug } from 'github-slugger';
import type { MarkdownSection } from '../formats/markdown/markdownParts.ts';
import { nearestSlugs } from '../search/nearSlugs.ts';

/** The section that a reader means: by its id, its heading, or a heading that differs only in case and signs. */
export function tryFindSection(
  sections: readonly MarkdownSection[],
  wanted: string,
): MarkdownSection | undefined {
  const plain = plainHeading(wanted);
  const id = plain.replace(/^#/, '');
  const likeness = slug(plain);
  return (
    sections.find((section) => section.id === id) ??
    sections.find(({ text }) => plainHeading(text) === plain) ??
    (likeness === '' ? undefined : sections.find(({ text }) => slug(text) === likeness))
  );
}

/** Headings that resemble a wrong one, or else the first ones. */
export function nearHeadings(
  sections: readonly MarkdownSection[],
  wanted: string,
  limit: number,
): readonly string[] {
  const compared = sections.slice(0, mostCompared);
  const ids = nearestSlugs(
    slug(wanted),
    compared.map(({ id }) => id.slice(0, 100)),
    limit,
  );
  const near = ids.flatMap((id) => compared.find((section) => section.id.slice(0, 100) === id) ?? []);
  return (near.length > 0 ? near : compared.slice(0, limit)).map(({ text }) => text.slice(0, 100));
}

const mostCompared = 500;

/** Without the marks that begin a heading, and with single blanks. */
function plainHeading(text: string): string {
  return text
    .replace(/^\s{0,3}#{1,6}\s/, '')
    .replace(/\s+/g, ' ')
    .trim();
}
