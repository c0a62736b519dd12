import type { Token, Tokens } from 'marked';
import { isTextless, type RawHeading, type RawPiece, tryRawHeading } from '../../content/rawHeading.ts';

/**
 * The tokens of a text. If it begins with a heading in raw HTML, that becomes a heading like any other, so that it
 * titles the page and stands in its contents.
 */
export function withRawHeading(tokens: readonly Token[]): readonly Token[] {
  for (const [at, token] of tokens.entries()) {
    const heading = token.type === 'html' ? tryRawHeading(token.raw) : undefined;
    if (heading !== undefined)
      return [...tokens.slice(0, at), ...splitAt(heading, token.raw), ...tokens.slice(at + 1)];
    if (!printsNothing.has(token.type) && !isTextless(token.raw)) return tokens;
  }
  return tokens;
}

export const printsNothing: ReadonlySet<string> = new Set(['space', 'def', 'footnoteDefinition']);

/** A heading of pictures alone stays as it is. */
function splitAt(heading: RawHeading, raw: string): readonly Token[] {
  const { depth, start, end, pieces } = heading;
  if (!pieces.some(({ kind, raw }) => kind === 'text' && raw.trim() !== '')) return [blockToken(raw)];
  const token: Tokens.Heading = {
    type: 'heading',
    raw: raw.slice(start, end),
    depth,
    text: raw.slice(start, end),
    tokens: pieces.map(inlineToken),
  };
  return [blockToken(raw.slice(0, start)), token, blockToken(raw.slice(end))];
}

function blockToken(raw: string): Tokens.HTML | Tokens.Space {
  if (raw.trim() === '') return { type: 'space', raw };
  return { type: 'html', raw, text: raw, pre: false, block: true };
}

function inlineToken({ kind, raw }: RawPiece): Token {
  switch (kind) {
    case 'text':
      return { type: 'text', raw, text: raw.replace(/\s+/g, ' '), escaped: false };
    case 'break':
      return { type: 'br', raw };
    case 'tag':
      return { type: 'html', raw, text: raw, inLink: false, inRawBlock: false, block: false };
  }
}
