import type { Token, TokensList } from 'marked';
import { Lexer, Tokenizer, type Tokens } from 'marked';
import { UnrenderableError } from '../renderJob.ts';

/**
 * Marked's lexer with bounds on what a hostile document can make it do. Marked is linear for what people write. But it
 * is recursive for nesting, quadratic for some runs of `_`, `*` and `[`, and it fills up the rows of tables. Each bound
 * is checked before the work that it bounds.
 */
export class BoundedLexer extends Lexer {
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
export class BoundedTokenizer extends Tokenizer {
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
