import type { Document } from '../../content/document.ts';
import { type MarkdownDocument, parseMarkdown } from './markdown.ts';

/** Whether the document begins with a first-level heading, which is then its title. */
export function startsWithTitle({ tokens, headings, headingOf }: MarkdownDocument): boolean {
  const first = tokens.find(({ type }) => !['space', 'def', 'footnoteDefinition'].includes(type));
  const heading = first && headingOf.get(first);
  return heading?.depth === 1 && heading === headings[0] && heading.text !== '';
}

/**
 * The Markdown of a document whose first heading, if it has the text of the title, stands at the beginning as a
 * first-level heading, wherever it was: so the title is set once. Throws `UnrenderableError`.
 */
export function parseTitled({ body, title }: Pick<Document, 'body' | 'title'>): MarkdownDocument {
  const document = parseMarkdown(body);
  const { tokens, headings, headingOf } = document;
  const [first] = headings;
  const at = tokens.findIndex((token) => first !== undefined && headingOf.get(token) === first);
  const token = tokens[at];
  if (first === undefined || token === undefined || !isTitle(first.text, title)) return document;
  const heading = { ...first, depth: 1 };
  const moved = { ...token, depth: 1 };
  return {
    ...document,
    tokens: [moved, ...tokens.slice(0, at), ...tokens.slice(at + 1)],
    headings: [heading, ...headings.slice(1)],
    headingOf: new Map([...headingOf, [moved, heading]]),
  };
}

/** Whether a heading repeats the title of its document. */
export function isTitle(heading: string, title: string): boolean {
  return folded(heading) === folded(title);
}

function folded(text: string): string {
  return text.normalize('NFKC').replace(/\s+/g, ' ').trim().toLowerCase();
}
