import { type Lexer, Marked, type Token, type Tokens, type TokensList } from 'marked';
import { withCjkRules } from '../../content/cjkRules.ts';
import type { Document } from '../../content/document.ts';
import { createSlugger, tryIdOf, writtenIds } from '../../content/headingAnchors.ts';
import { isTitle } from '../../content/headings.ts';
import { plainText, withoutIllegalCharacters } from '../../content/plainText.ts';
import { withoutCode } from '../../content/withoutCode.ts';
import { UnrenderableError } from '../renderJob.ts';
import { BoundedLexer, BoundedTokenizer } from './boundedLexer.ts';
import { type FootnoteDefinitions, footnoteExtensions } from './footnotes.ts';
import { formulaExtension } from './formulas.ts';

/** A document as Marked's tokens (GitHub's Markdown with footnotes), with facts that need the whole document. */
export interface MarkdownDocument {
  /** `footnoteDefinition` prints nothing in its place. Entities in `text` are as they were written. */
  readonly tokens: readonly Token[];
  /** In document order, including those in quotes, lists and footnotes. */
  readonly headings: readonly Heading[];
  readonly headingOf: ReadonlyMap<Token, Heading>;
  /** The footnotes with a reference, in the order of their numbers. */
  readonly footnotes: readonly Footnote[];
  /** The footnote of each `footnoteReference`; `occurrence` counts the references to the same footnote, from 1. */
  readonly footnoteOf: ReadonlyMap<Token, { readonly number: number; readonly occurrence: number }>;
  readonly writtenIds: ReadonlySet<string>;
}

export interface Heading {
  /** 1 to 6. */
  readonly depth: number;
  readonly text: string;
  /** As GitHub makes it, unique in the document, never empty. It has no `:`, so other ids can use that. */
  readonly id: string;
}

export interface Footnote {
  /** Counted from 1, in the order of the first references. */
  readonly number: number;
  readonly tokens: readonly Token[];
  readonly references: number;
}

/**
 * Throws `UnrenderableError` for a document that is out of bounds. Its time is proportional to the length of the
 * document. Characters that no XML document may contain are left out.
 */
export function parseMarkdown(source: string): MarkdownDocument {
  const written = / (?:id|name)=/.test(source) ? writtenIds(withoutCode(source)) : new Set<string>();
  const lexed = lexWithFootnotes(withoutIllegalCharacters(source));
  return survey(lexed, written, 2 * source.length + 1_000_000);
}

export const printsNothing: ReadonlySet<string> = new Set(['space', 'def', 'footnoteDefinition']);

export function lexWithFootnotes(source: string) {
  const definitions: FootnoteDefinitions = new Map();
  const extensions = [...footnoteExtensions(definitions), formulaExtension];
  return { tokens: lex(source, new Marked({ extensions }), withCjkRules), definitions };
}

/** GitHub's Markdown as Marked reads it without extensions, within the same bounds. */
export function lexPlain(source: string, withRules?: (lexer: Lexer) => Lexer): TokensList {
  return lex(source, new Marked(), withRules);
}

/** Each text gets its own instance of Marked, because anyone can change the one that Marked exports. */
function lex(source: string, { defaults }: Marked, withRules = (lexer: Lexer) => lexer): TokensList {
  if (source.length > maxLength) {
    throw new UnrenderableError('The document is longer than 10 MB. Split it into several documents.');
  }
  const lexer = new BoundedLexer({ ...defaults, tokenizer: new BoundedTokenizer() });
  return withinStack(() => withRules(lexer).lex(source));
}

/** The regular expressions of readers run out of stack in a line of megabytes. */
export function withinStack<Result>(read: () => Result): Result {
  try {
    return read();
  } catch (error) {
    if (!(error instanceof RangeError)) throw error;
    const message = 'The document has a line or a paragraph of megabytes. Split it.';
    throw new UnrenderableError(message, { cause: error });
  }
}

/** The limit of a file. */
const maxLength = 10_000_000;
const maxTokens = 4_000_000;

/**
 * One walk over all tokens in reading order.
 * @param written ids that the author wrote
 * @param space how long the addresses of all links may be: one definition can serve any number of links
 */
function survey(
  { tokens, definitions }: ReturnType<typeof lexWithFootnotes>,
  written: ReadonlySet<string>,
  space: number,
): MarkdownDocument {
  let [count, left] = [0, space];
  const slugger = createSlugger(written);
  const headingOf = new Map<Token, Heading>();
  const footnoteOf = new Map<Token, { number: number; occurrence: number }>();
  const footnotes = new Map<string, { number: number; references: number }>();
  const footnoteTokens = (label: string) => definitions.get(label) ?? [];

  const nameHeading = (token: Tokens.Heading) => {
    const text = plainText(token.tokens).trim();
    const own = token.tokens.map(({ type, raw }) => (type === 'html' ? tryIdOf(raw) : undefined));
    const id = own.find(Boolean) ?? (slugger.slug(text) || slugger.slug('section'));
    headingOf.set(token, { depth: token.depth, text, id });
  };
  const countReference = (token: Token, label: string) => {
    const footnote = footnotes.get(label) ?? { number: footnotes.size + 1, references: 0 };
    footnote.references += 1;
    footnotes.set(label, footnote);
    footnoteOf.set(token, { number: footnote.number, occurrence: footnote.references });
  };
  const visit = (token: Token) => {
    if (token.type === 'footnoteDefinition') return;
    if (token.type === 'footnoteReference') return countReference(token, token.label);
    if (token.type === 'heading') nameHeading(token as Tokens.Heading);
    if (token.type === 'link' || token.type === 'image')
      left -= token.href.length + (token.title?.length ?? 0);
    if (left < 0)
      throw new UnrenderableError('A long link is used too often in the document. Use it less often.');
    for (const children of childrenOf(token)) walk(children);
  };
  const walk = (list: readonly Token[]) => {
    count += list.length;
    if (count > maxTokens)
      throw new UnrenderableError(
        'The document has more than 4 million parts. Split it into several documents.',
      );
    for (const token of list) visit(token);
  };

  walk(tokens);
  // The map grows while footnotes refer to further ones.
  for (const label of footnotes.keys()) walk(footnoteTokens(label));
  return {
    tokens,
    headings: [...headingOf.values()],
    headingOf,
    footnotes: [...footnotes].map(([label, counts]) => ({ ...counts, tokens: footnoteTokens(label) })),
    footnoteOf,
    writtenIds: written,
  };
}

export function childrenOf(token: Token): (readonly Token[])[] {
  if (token.type === 'list') return (token as Tokens.List).items.map(({ tokens }) => tokens);
  if (token.type === 'table') {
    const { header, rows } = token as Tokens.Table;
    return [header, ...rows].flatMap((row) => row.map(({ tokens }) => tokens));
  }
  // The description of a picture is printed as plain text.
  return 'tokens' in token && token.tokens && token.type !== 'image' ? [token.tokens] : [];
}

/** Whether the document begins with a first-level heading, which is then its title. */
export function startsWithTitle({ tokens, headings, headingOf }: MarkdownDocument): boolean {
  const first = tokens.find(({ type }) => !printsNothing.has(type));
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
