import { HtmlRenderer, Parser } from 'commonmark';
import MarkdownIt from 'markdown-it';
import { Marked, type MarkedExtension } from 'marked';

/** What a reader prints for a block of the first level, and its lines, counted from 0; `end` is behind the last. */
export interface PrintedBlock {
  readonly html: string;
  readonly first: number;
  readonly end: number;
}

export type MarkdownReader = (text: string) => Iterable<PrintedBlock>;

/**
 * Markdown readers that other programs use, exactly as they are published; all of them print raw HTML as it is. Marked
 * has three modes: as on GitHub, as in chats, and without tables.
 */
export const markdownReaders: readonly MarkdownReader[] = [
  (text) => readByMarked(text, {}),
  (text) => readByMarked(text, { breaks: true }),
  (text) => readByMarked(text, { gfm: false }),
  readByMarkdownIt,
  (text) => readByCommonMark(text.length > maxWithEmphasis ? withoutEmphasis(text) : text),
];

function* readByMarked(text: string, options: MarkedExtension): Generator<PrintedBlock> {
  // Its own instance, because anyone can change the one that Marked exports.
  const reader = new Marked(options);
  let end = 0;
  for (const token of reader.lexer(text)) {
    const first = end;
    end += token.raw.split('\n').length - 1;
    yield { html: reader.parser([token]), first, end: end + 1 };
  }
}

function* readByMarkdownIt(text: string): Generator<PrintedBlock> {
  const reader = new MarkdownIt({ html: true });
  const environment = {};
  let block: ReturnType<typeof reader.parse> = [];
  for (const token of reader.parse(text, environment)) {
    block.push(token);
    if (token.level > 0 || token.nesting > 0) continue;
    const [first, end] = block[0]?.map ?? [0, Number.POSITIVE_INFINITY];
    yield { html: reader.renderer.render(block, reader.options, environment), first, end };
    block = [];
  }
}

function* readByCommonMark(text: string): Generator<PrintedBlock> {
  const renderer = new HtmlRenderer();
  for (let node = new Parser().parse(text).firstChild; node; node = node.next) {
    const [[first], [end]] = node.sourcepos;
    yield { html: renderer.render(node), first: first - 1, end };
  }
}

/** In UTF-16 units. For each link of a paragraph, commonmark.js looks at all marks of emphasis before it. */
const maxWithEmphasis = 100_000;

/** Emphasis never decides what is a tag or a link. The marks of lists and rules at the beginnings of lines stay. */
function withoutEmphasis(text: string): string {
  return text.replace(/^[\s>*_+\-\d.)]+|\*|(?<!\w)_|_(?!\w)/gm, (mark) =>
    mark === '*' ? ',' : mark === '_' ? 'x' : mark,
  );
}
