import type { Token } from 'marked';
import { lexPlain, lexWithFootnotes, withinStack } from './markdown.ts';
import { type MarkdownReader, markdownReaders } from './markdownReaders.ts';
import { escapeActiveTags, HtmlSanitiser, isHarmlessAddress, isHarmlessHtml } from './rawHtml.ts';
import { keepingLineEnds, lineEndsOf, type TokenEdit, tryEditTokens } from './tokenEdits.ts';

/**
 * The Markdown as it was written, but with raw HTML sanitised, and without the addresses of links that may run
 * something. Everything else stays byte for byte, and so does a document that was sanitised before. Throws
 * `UnrenderableError` for a document that is out of bounds.
 *
 * The text is read as Marked reads it, with footnotes and without, and edited there. Other Markdown readers then read
 * the result, and every block that is still active in one of them is disarmed. This is repeated until nothing is left
 * to change, because a tag that is removed can turn the text around it into new Markdown.
 */
export function sanitiseMarkdown(source: string): string {
  return keepingLineEnds(source, untilStable);
}

const maxRounds = 8;

function untilStable(source: string): string {
  // A text without these two characters has no tag, no link and no picture.
  if (!/[<[]/.test(source)) return source;
  let text = source;
  for (let round = 0; round < maxRounds; round += 1) {
    const before = text;
    text = edit(text, lexWithFootnotes(text).tokens);
    text = edit(text, lexPlain(text));
    if (text === before) text = withinStack(() => markdownReaders.reduce(disarmActive, text));
    if (text === before) return text;
  }
  return disarm(text);
}

/** Escapes what a reader finds active: the tags in its block that may be the cause, or else every mark. */
function disarmActive(text: string, reader: MarkdownReader): string {
  const lines = text.split('\n');
  for (const { html, first, end } of reader(text)) {
    if (isHarmlessHtml(html)) continue;
    const block = lines.slice(first, end).join('\n');
    const escaped = escapeActiveTags(block);
    const disarmed = escaped === block ? disarm(block) : escaped;
    for (const [at, line] of disarmed.split('\n').entries()) lines[first + at] = line;
  }
  return lines.join('\n');
}

function edit(text: string, tokens: readonly Token[]): string {
  const sanitiser = new HtmlSanitiser();
  const edit: TokenEdit = (token, raw) => sanitised(token, raw, sanitiser);
  return tryEditTokens(text, tokens, { edit, ifLost: 'fail' }) ?? disarm(text);
}

/** The last resort: marks are shown as they are. */
function disarm(text: string): string {
  return text.replaceAll('<', '&lt;').replaceAll('[', '&#91;');
}

function sanitised(token: Token, raw: string, sanitiser: HtmlSanitiser): string {
  switch (token.type) {
    case 'html':
      return sanitisedHtml(raw, sanitiser);
    case 'text':
      // Marked prints the text between `<kbd>` and `</kbd>` as it is.
      return token.escaped ? raw.replaceAll('<', '&lt;') : raw;
    case 'image':
    case 'def':
      return withoutScript(raw, token.href);
    case 'link':
      if (token.raw.startsWith('[')) return withoutScript(raw, token.href);
      return isHarmlessAddress(token.href) ? raw : raw.replace('<', '&lt;');
  }
  return raw;
}

/**
 * A part that is left out keeps its line ends.
 * @param edit of a tag that stays
 */
export function sanitisedHtml(
  raw: string,
  sanitiser: HtmlSanitiser,
  edit: (tag: string) => string = (tag) => tag,
): string {
  let at = 0;
  let result = '';
  for (const { kind, start, end, text } of sanitiser.partsOf(raw)) {
    result += lineEndsOf(raw.slice(at, start));
    result += kind === 'text' ? text.replaceAll('<', '&lt;') : edit(text);
    if (kind !== 'text') result += lineEndsOf(raw.slice(start, end)).slice(lineEndsOf(text).length);
    at = end;
  }
  return result + lineEndsOf(raw.slice(at));
}

/** A reference has no address of its own: the address in its definition is edited. */
function withoutScript(raw: string, href: string): string {
  const at = !isHarmlessAddress(href) ? raw.search(/\]\(|\]:/) : -1;
  if (at < 0) return raw;
  const isDefinition = raw[at + 1] === ':';
  return `${raw.slice(0, at)}${isDefinition ? ']: #' : '](#)'}${lineEndsOf(raw.slice(at))}`;
}
