import { decodeHTMLStrict } from 'entities';
import { Lexer, type Token } from 'marked';

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

/** The tokens of a text within a line, such as a heading. */
export function inlineTokens(text: string): Token[] {
  return withCjkRules(new Lexer()).inlineTokens(text);
}

/**
 * Makes Marked read Chinese, Japanese and Korean as people write them. CommonMark expects blanks between words, so that
 * in `**「重要」**は` the second mark would begin a bold part instead of ending one; by the CJK-friendly amendments
 * (github.com/tats-u/markdown-cjk-friendly), their letters and punctuation stand beside a mark as a blank does. A bare
 * address ends at their punctuation.
 */
export function withCjkRules<Reader extends Lexer>(lexer: Reader): Reader {
  const { tokenizer } = lexer.options;
  if (!tokenizer) return lexer;
  const { inline } = tokenizer.rules;
  tokenizer.rules = {
    ...tokenizer.rules,
    inline: { ...inline, emStrongLDelim, emStrongRDelimAst, punctuation, url: shortUrl(inline.url) },
  };
  return lexer;
}

const cjk =
  '[\\p{Script=Han}\\p{Script=Hiragana}\\p{Script=Katakana}\\p{Script=Hangul}\\p{Script=Bopomofo}\\u3001-\\u303f\\u30fb\\u30fc\\uff01-\\uffef]';
/** As in Marked's own rules, from which these are made: neither a mark of emphasis nor one of deletion. */
const sign = `(?!${cjk})(?![*~])[\\p{P}\\p{S}]`;
const letter = `(?:[^\\s\\p{P}\\p{S}]|~|${cjk})`;

const punctuation = new RegExp(`^((?![*_])(?:[\\s\\p{P}\\p{S}]|${cjk}))`, 'u');
const emStrongLDelim = new RegExp(
  `^(?:\\*+(?:(${sign})|([^\\s*]))?)|^_+(?:((?![_~])[\\p{P}\\p{S}])|([^\\s_]))?`,
  'u',
);
/** In this order: what is skipped, marks that only end (1, 2), that only begin (3, 4), and that do both (5, 6). */
const emStrongRDelimAst = new RegExp(
  [
    '^[^_*]*?__[^_*]*?\\*[^_*]*?(?=__)|[^*]+(?=[^*])',
    `${sign}(\\*+)(?=\\s|$)`,
    `(?!${cjk}\\*+${sign})${letter}(\\*+)(?!\\*)(?=\\s|${sign}|$)`,
    `(?!${sign}\\*+${cjk})(?:\\s|${sign})(\\*+)(?=${letter})`,
    `\\s(\\*+)(?!\\*)(?=${sign})`,
    `${sign}(\\*+)(?!\\*)(?=${sign})`,
    `(?:${cjk}(?=\\*+${sign})|${sign}(?=\\*+${cjk})|${letter}(?=\\*+${letter}))(\\*+)`,
  ].join('|'),
  'gu',
);

/** Ends an address at the punctuation of these scripts. */
function shortUrl({ source }: RegExp): RegExp {
  return new RegExp(
    source.replace(
      '[^\\s<]*',
      '[^\\s<\\u201c\\u201d\\u3001-\\u303f\\uff01-\\uff0f\\uff1a-\\uff20\\uff3b-\\uff40\\uff5b-\\uff65]*',
    ),
  );
}
