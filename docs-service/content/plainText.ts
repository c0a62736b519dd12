import { decodeHTMLStrict } from 'entities';
import type { Token } from 'marked';

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

/** No XML document may contain these, not even as references: most control characters and halves of pairs. */
export function withoutIllegalCharacters(text: string): string {
  return text.replace(illegal, '');
}

const illegal =
  /[\u0000-\u0008\u000b\u000c\u000e-\u001f\ufffe\uffff]|[\ud800-\udbff](?![\udc00-\udfff])|(?<![\ud800-\udbff])[\udc00-\udfff]/g;
