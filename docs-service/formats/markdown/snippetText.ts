import type { Token, Tokens } from 'marked';
import { isTitle } from '../../content/headings.ts';
import { plainText, withCjkRules } from '../../content/inlineText.ts';
import { UnrenderableError } from '../renderJob.ts';
import { childrenOf, lexPlain } from './markdown.ts';

/** The excerpt for a program: its words alone, and at most 200 characters. */
export function plainSnippet(snippet: string, title: string): string {
  const words = snippetWords(snippet, snippetBlocks(snippet, title));
  if (words.length <= maxPlain) return words;
  const kept = words.slice(0, maxPlain - 2);
  return `${(kept.replace(/\s+\S*$/, '') || kept).replace(/\p{Surrogate}$/u, '')} …`;
}

const maxPlain = 200;

/** An excerpt in Markdown, as search returns it, as its words. */
export function snippetWords(snippet: string, tokens: readonly Token[]): string {
  const text = tokens.map(wordsOf).join(' ').replace(footnotes, '').replace(references, '$1');
  const words = text.replace(/\s+/g, ' ').trim().replace(/ —$/, '');
  if (words === '') return snippet;
  return snippet.startsWith(cut) && !words.startsWith(cut) ? `${cut}${words}` : words;
}

/** Without their definitions, references are text. */
const footnotes = /\[\^[^\]\s]{1,100}\]/g;
const references = /(?<![\w\])])\[([^[\]]{1,200})\]\[[^[\]]{0,200}\]/g;

/** How an excerpt begins that does not begin with its line. */
const cut = '… ';

/**
 * The excerpt without the marks of what is cut at its ends: a list item that would not begin its line, and links of
 * which only one half is there.
 */
function withoutHalves(snippet: string): string {
  const text = /^… [-*+] /.test(snippet) ? snippet.slice(cut.length) : snippet;
  const begun = text.replace(/^([^[\]\n]{0,200})\]\([^()\n]{0,300}\)/, '$1');
  if (!begun.endsWith(' …')) return begun;
  const last = begun.lastIndexOf('\n') + 1;
  const line = begun.slice(last).replace(/\[([^[\]]*)(?:\]\([^()]*)? …$/, '$1 …');
  const isOpen = (line.match(/`/g)?.length ?? 0) % 2 === 1;
  return begun.slice(0, last) + (isOpen ? line.replace(/`([^`]*)$/, '$1') : line);
}

/**
 * Empty if the excerpt is out of the bounds of rendering.
 * @param title of the document, which stands above the excerpt and is not repeated by it
 */
export function snippetBlocks(snippet: string, title: string): readonly Token[] {
  try {
    const blocks = lexPlain(withoutHalves(snippet), withCjkRules).filter(
      ({ type }) => !['space', 'def'].includes(type),
    );
    const [first, ...rest] = blocks;
    const repeats = first?.type === 'heading' && isTitle(plainText([first]), title);
    return repeats && rest.length > 0 ? rest : blocks;
  } catch (error) {
    if (error instanceof UnrenderableError) return [];
    throw error;
  }
}

function wordsOf(token: Token): string {
  switch (token.type) {
    case 'list':
      return childrenOf(token)
        .map((tokens) => tokens.map(wordsOf).join(' '))
        .join(' · ');
    case 'table':
      return childrenOf(token).map(plainText).join(' · ');
    case 'blockquote':
      return (token as Tokens.Blockquote).tokens.map(wordsOf).join(' ');
    case 'heading':
      return `${plainText([token])} —`;
    case 'hr':
      return '';
    default:
      return plainText([token]);
  }
}
