import type { Direction } from '../language.ts';
import type { Heading, MarkdownDocument } from '../markdown/markdown.ts';
import type { Block } from './arrange.ts';
import type { Setting } from './paragraphs.ts';
import type { InlineContext } from './pieces.ts';
import { pitch } from './style.ts';

/** Where tokens stand, and all that is known of their document. */
export interface Scope extends Setting {
  readonly document: MarkdownDocument;
  readonly inline: InlineContext;
  /** How many lists it stands in. */
  readonly listDepth?: number;
  /** Whether it stands in the table that a quote is set as. */
  readonly inTable?: boolean;
  /** In how many quotes. */
  readonly quoteDepth?: number;
  /** Is told of each heading that gets a place in the document. It answers with what makes it a bookmark. */
  readonly placeHeading: (heading: Heading) => Record<string, unknown>;
}

/** Inside of quotes and lists text is narrower, but never too narrow to be read. */
export function indented(scope: Scope, indent: number, direction: Direction = 'ltr'): Scope {
  const width = scope.width - indent;
  if (direction === 'rtl') return { ...scope, width };
  return { ...scope, width, indent: scope.inTable ? 0 : scope.indent + indent };
}

export function indentWithin(scope: Scope, indent: number): number {
  return scope.width - indent < 150 ? 0 : indent;
}

export function heightOf(blocks: readonly Block[]): number {
  return blocks.reduce((sum, { height, before, after }) => sum + height + Math.max(before, after), 0);
}

/** How much a page must have left for a block of text to begin on it. */
export function twoLines(fontSize: number): number {
  return 2.2 * pitch(fontSize);
}
