import { Lexer, Marked, type Token, Tokenizer, type Tokens, type TokensList } from 'marked';
import type { Document } from '../../content/document.ts';
import { createSlugger, isTitle, tryIdOf, writtenIds } from '../../content/headings.ts';
import { plainText, withCjkRules, withoutIllegalCharacters } from '../../content/inlineText.ts';
import { withoutCode } from '../../content/markdownLines.ts';
import { UnrenderableError } from '../renderJob.ts';
import { type FootnoteDefinitions, footnoteExtensions, formulaExtension } from './gitHubBlocks.ts';

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

/**
 * Marked's lexer with bounds on what a hostile document can make it do. Marked is linear for what people write. But it
 * is recursive for nesting, quadratic for some runs of `_`, `*` and `[`, and it fills up the rows of tables. Each bound
 * is checked before the work that it bounds.
 */
class BoundedLexer extends Lexer {
  #blockDepth = 0;
  #inlineDepth = 0;
  #spanWork = 0;

  override blockTokens(source: string, tokens?: Token[], clipped?: boolean): Token[];
  override blockTokens(source: string, tokens?: TokensList, clipped?: boolean): TokensList;
  override blockTokens(source: string, tokens?: Token[], clipped?: boolean): Token[] {
    if (this.#blockDepth > maxBlockDepth) throw tooDeep('Quotes and lists', maxBlockDepth);
    this.#blockDepth += 1;
    const result = super.blockTokens(source, tokens, clipped);
    this.#blockDepth -= 1;
    return result;
  }

  override inlineTokens(source: string, tokens?: Token[]): Token[] {
    if (this.#inlineDepth === 0) this.#countSpanWork(source);
    if (this.#inlineDepth > maxInlineDepth) throw tooDeep('Emphasis and links', maxInlineDepth);
    this.#inlineDepth += 1;
    const result = super.inlineTokens(source, tokens);
    this.#inlineDepth -= 1;
    return result;
  }

  /** Each mark may make Marked search the rest of its paragraph. */
  #countSpanWork(source: string): void {
    const marks = source.match(/[*_~[`<]+/g)?.length ?? 0;
    this.#spanWork += marks * source.length;
    if (this.#spanWork > maxSpanWork) {
      throw new UnrenderableError(
        'A paragraph has too many marks such as * and _ for its length. Split it into shorter paragraphs.',
      );
    }
  }
}

/**
 * A tokenizer that refuses a table before its rows are filled up to its number of columns. It must not override
 * `paragraph`: Marked joins some paragraphs only if that is its own.
 */
class BoundedTokenizer extends Tokenizer {
  override table(source: string): Tokens.Table | undefined {
    const columns = tryColumns(source);
    if (columns && columns * rowsOf(source, Math.ceil(maxCells / columns)) >= maxCells) {
      throw new UnrenderableError(
        `A table has more than ${maxCells.toLocaleString('en')} cells. Split it into smaller tables.`,
      );
    }
    return super.table(source);
  }
}

function tooDeep(what: string, most: number): UnrenderableError {
  return new UnrenderableError(`${what} are nested more than ${most} deep. Nest them less.`);
}

const maxBlockDepth = 50;
const maxInlineDepth = 100;
/** Marks times characters of their paragraphs: about 4 s of Marked in the worst case, and 50 ms for 10 MB of prose. */
const maxSpanWork = 1e9;
const maxCells = 1_000_000;

/** The number of columns of the table at the beginning of a text; undefined if there is none. */
function tryColumns(source: string): number | undefined {
  const end = source.indexOf('\n');
  if (end < 0) return undefined;
  const delimiters = /[ \t|:-]*/y;
  delimiters.lastIndex = end + 1;
  const [line = ''] = delimiters.exec(source) ?? [];
  const next = source[end + 1 + line.length];
  if (!line.includes('-') || (next !== undefined && next !== '\n')) return undefined;
  const columns = source.slice(0, end).split('|').length;
  return columns > 1 || line.includes('|') ? columns : undefined;
}

function rowsOf(source: string, max: number): number {
  let rows = 0;
  for (let at = 0; at >= 0 && rows < max; rows += 1) {
    const next = source.indexOf('\n', at);
    if (next < 0 || source[next + 1] === '\n') break;
    at = next + 1;
  }
  return rows;
}
