import { decodeHTMLStrict } from 'entities';
import type { Token } from 'marked';
import { withoutIllegalCharacters } from './xmlText.ts';

/** What a reader sees of tokens, without marks: for headings, descriptions of pictures and tables of contents. */
export function plainText(tokens: readonly Token[]): string {
  return tokens.map(textOf).join('');
}

/** Marked leaves `&nbsp;` and other entities as they were written; this returns their characters. */
export function decodeEntities(text: string): string {
  return text.includes('&') ? withoutIllegalCharacters(decodeHTMLStrict(text)) : text;
}

function textOf(token: Token): string {
  switch (token.type) {
    case 'html':
    case 'checkbox':
    case 'footnoteReference':
    case 'footnoteDefinition':
      return '';
    case 'br':
      return ' ';
    case 'codespan':
      return token.text;
    case 'image':
      return decodeEntities(token.text);
  }
  if ('tokens' in token && token.tokens) return plainText(token.tokens);
  return 'text' in token && typeof token.text === 'string' ? decodeEntities(token.text) : '';
}
