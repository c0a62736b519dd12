import { cleanId } from '../headings.ts';
import { closesFence, type Fence, tryOpeningFence } from '../markdownLines.ts';
import { closedSlashes, type Opening, tabIn, tryOpening } from './blockOpenings.ts';
import { type CodeBlock, codeLine, tryFenceInfo } from './codeBlocks.ts';
import type { Dialect, Line } from './dialect.ts';
import { alertLine, containerLines, type MarkedContainer, mark, tryAlertKind } from './kinds.ts';

/**
 * The lines of a text with the blocks of all dialects as alerts, details and labelled parts. One pass with a stack of
 * open containers; `///` needs its end, and every other one that has none ends with its parent.
 */
export function withPlainBlocks(lines: readonly Line[], dialect: Dialect): readonly Line[] {
  const reader = new BlockReader(dialect, closedSlashes(lines));
  for (const line of lines) reader.take(line);
  return reader.end();
}

interface Frame extends Opening {
  readonly line: number;
  /** Where the text of the list item around it begins. */
  readonly item: number;
  readonly out: Line[];
  /** Blanks that its content has in front; unknown until its first line. */
  strip: number | undefined;
  /** Lines such as `:class: warning` may still come. */
  mayHaveOptions: boolean;
  options: ReadonlyMap<string, string>;
}

interface OpenCode extends CodeBlock {
  readonly fence: Fence;
  /** How many frames are around it. */
  readonly depth: number;
  /** Blanks that its lines have in front. */
  readonly strip: number;
  /** Ends the figure around it. */
  readonly end: readonly string[];
}

const maxDepth = 10;
const maxContainers = 10_000;
/** Lines of a block that has a caption below it. */
const maxFigure = 500;
/** Within each other, those that are only content included. Each line is looked at by all that it is in. */
const maxFrames = 12;

class BlockReader {
  readonly #closedSlashes: ReadonlySet<number>;
  readonly #frames: Frame[] = [];
  readonly #out: Line[] = [];
  #code: OpenCode | undefined;
  #containers = 0;
  /** Where the text of the list item begins, in columns. */
  #item = 0;

  constructor(
    private readonly dialect: Dialect,
    slashes: ReadonlySet<number>,
  ) {
    this.#closedSlashes = slashes;
  }

  take({ text, line }: Line): void {
    const rest = this.#stripped(text);
    if (this.#frames.length < (this.#code?.depth ?? 0)) this.#code = undefined;
    if (this.#code !== undefined) this.#takeCode(this.#code, rest, line);
    else if (rest.startsWith(mark.start, indentOf(rest))) this.#takeMark(rest, line);
    else if (!this.#closes(rest) && !this.#isOption(rest)) this.#takeBlock(rest, line);
  }

  /** A list item may begin with a container, whose lines are below its mark then. */
  #takeBlock(text: string, line: number): void {
    const [, item] = /^((?:[ \t]*(?:[-*+]|\d{1,9}[.)])[ \t]+){1,5}):::+[ \t]*[\w{]/.exec(text) ?? [];
    if (item !== undefined) this.#takeText(item, line);
    const rest = item === undefined ? text : ' '.repeat(item.length) + text.slice(item.length);
    if (item !== undefined) this.#item = item.length;
    if (!this.#opens(rest, line)) this.#takeText(rest, line);
  }

  end(): readonly Line[] {
    while (this.#frames.length > 0) this.#close();
    return this.#out;
  }

  get #top(): Line[] {
    return this.#frames.at(-1)?.out ?? this.#out;
  }

  #push(text: string, line: number): void {
    this.#top.push({ text, line });
  }

  /** The line without the blanks of the containers around it. Those that it is not in are closed. */
  #stripped(text: string): string {
    let rest = text;
    for (const [at, frame] of this.#frames.entries()) {
      if (rest.trim() === '') return '';
      const indent = indentOf(rest);
      if (frame.form === 'indent' && indent < frame.indent + 4) {
        while (this.#frames.length > at) this.#close();
        return rest;
      }
      if (frame.form === 'tag') frame.strip ??= rest.startsWith(mark.start, indent) ? undefined : indent;
      const strip = frame.form === 'indent' ? frame.indent + 4 : (frame.strip ?? frame.indent);
      rest = withoutIndent(rest, strip);
    }
    return rest;
  }

  #takeCode(code: OpenCode, text: string, line: number): void {
    if (code.hasOptions) {
      const [, option, value = ''] = /^\s*:([\w-]+):\s*(.*)$/.exec(text) ?? [];
      if (option === 'caption' && code.end.length === 0) this.#captionCode(code, value, line);
      if (option !== undefined) return;
      this.#code = { ...code, hasOptions: false };
      if (text.trim() === '') return;
    }
    const isEnd = closesFence(text.slice(0, 300), code.fence);
    if (isEnd) this.#code = undefined;
    const shown = isEnd ? text : codeLine(text, code);
    if (shown !== undefined) this.#push(withoutIndent(shown, code.strip), line);
    if (isEnd) for (const one of code.end) this.#push(one, line);
  }

  #takeMark(text: string, line: number): void {
    const indent = indentOf(text);
    const body = text.slice(indent + 1, text.indexOf(mark.end, indent));
    if (body.startsWith('/')) {
      const at = this.#frames.findLastIndex(({ form, name }) => form === 'tag' && name === body.slice(1));
      while (at >= 0 && this.#frames.length > at) this.#close();
      return;
    }
    this.#open({ ...(JSON.parse(body) as MarkedContainer), form: 'tag', size: 0, indent }, line);
  }

  #closes(text: string): boolean {
    const [, colons = '', slashes = '', ticks = ''] =
      /^\s*(?:(:{3,})|(\/{3,})|(`{3,}|~{3,}))\s*$/.exec(text) ?? [];
    const size = (colons || slashes || ticks).length;
    if (size === 0) return false;
    const form = colons ? 'colon' : slashes ? 'slash' : 'fence';
    // As many marks end what they began, though something in it has no end.
    const ends = (isEnd: (own: number) => boolean) =>
      this.#frames.findLastIndex((frame) => frame.form === form && isEnd(frame.size));
    const exact = ends((own) => own === size);
    const at = exact < 0 ? ends((own) => own < size) : exact;
    if (at < 0) return false;
    while (this.#frames.length > at) this.#close();
    return true;
  }

  /** Options of the container stand before its text. */
  #isOption(text: string): boolean {
    const frame = this.#frames.at(-1);
    if (!frame?.mayHaveOptions) return false;
    const [, key, value = ''] =
      (frame.form === 'slash' ? /^ {4}([\w-]+):\s*(.*)$/ : /^:([\w-]+):\s*(.*)$/).exec(text) ?? [];
    frame.mayHaveOptions = key !== undefined;
    if (key !== undefined) frame.options = new Map([...frame.options, [key, value.trim()]]);
    return key !== undefined;
  }

  #opens(text: string, line: number): boolean {
    const opening = tryOpening(text, this.#closedSlashes.has(line), this.#item);
    if (opening === undefined) return false;
    if (opening.unknown !== undefined) this.dialect.note('directive', opening.unknown, line);
    if (this.#containers >= maxContainers || this.#frames.length >= maxFrames) {
      this.dialect.note('limit', opening.name, line);
      return false;
    }
    if (opening.isHidden) for (const one of ['', opening.first ?? '', '']) this.#push(one, line);
    this.#open(opening, line);
    if (opening.first && !opening.isHidden) this.#push(opening.first, line);
    return true;
  }

  #open(opening: Opening, line: number): void {
    if (this.#frames.length >= maxFrames) return;
    this.#containers += 1;
    const kind = this.#frames.length < maxDepth ? opening.kind : 'content';
    const mayHaveOptions = opening.form === 'slash' || (opening.isMyst ?? false);
    const inner = { out: [], strip: undefined, mayHaveOptions, options: new Map() };
    this.#frames.push({ ...opening, ...inner, kind, line, item: this.#item });
  }

  #close(): void {
    const frame = this.#frames.pop();
    this.#item = frame?.item ?? 0;
    if (frame === undefined || frame.isHidden) return;
    const inner = trimmed(frame.out);
    const first = inner[0]?.text ?? '';
    const heading = frame.hasTitleInside
      ? /^#{1,6}\s+(.*)$/.exec(first)?.[1]
      : frame.kind === 'details' && frame.label === ''
        ? /^<summary>(.*)<\/summary>$/.exec(first)?.[1]
        : undefined;
    const { options } = frame;
    if (frame.form === 'slash' && /^(?:figure-)?caption$/.test(frame.name) && this.#captionLast(inner))
      return;
    const text = heading === undefined ? inner : trimmed(inner.slice(1));
    const isPicture = frame.isMyst && /^(?:figure|image)$/.test(frame.name);
    const content = isPicture ? pictureLines(text, options.get('alt')) : text;
    const classes = options.get('class') ?? options.get('type');
    const isOpen = options.get('open')?.toLowerCase() === 'true';
    const isAlert = frame.kind === 'details' && options.has('type');
    const fold = isOpen ? '+' : frame.fold || (isAlert ? '-' : '');
    const kind = isAlert ? 'alert' : frame.kind;
    const word = (frame.isGeneric || frame.kind === 'details' ? classes : undefined) ?? frame.word ?? 'note';
    const container = { kind, word, fold, label: heading ?? frame.label } as const;
    const listed = /\bid:\s*["']?([\w.:-]+)/.exec(options.get('attrs') ?? '')?.[1];
    const id = options.get('name') ?? options.get('id') ?? listed ?? frame.id;
    const margin = ' '.repeat(frame.form === 'tag' ? Math.min(frame.indent, frame.item) : frame.indent);
    const anchor = id === undefined ? [] : [`<a id="${cleanId(id)}"></a>`, ''];
    const before = kind === 'alert' && this.#top.at(-1)?.text.trim() !== '' ? ['', ...anchor] : anchor;
    const lines = [
      ...before.map((text) => ({ text, line: frame.line })),
      ...containerLines(container, content, frame.line),
    ];
    // After the mark of a list item, an empty line would end the item.
    const isFirst = /^[ \t]*(?:(?:[-*+]|\d{1,9}[.)])[ \t]+)+$/.test(this.#top.at(-1)?.text ?? '');
    const shown = isFirst ? lines.slice(lines.findIndex(({ text }) => text !== '')) : lines;
    for (const { text, line } of shown) this.#push(text === '' ? '' : margin + text, line);
  }

  /** A caption of Python-Markdown stands below its block. False if there is none, or one of several parts. */
  #captionLast(caption: readonly Line[]): boolean {
    const lines = this.#top.slice(-maxFigure);
    const end = lines.findLastIndex(({ text }) => text.trim() !== '');
    const last = lines[end]?.text.trim() ?? '';
    const [marks = ''] = /^(?:`{3,}|~{3,})/.exec(last) ?? [];
    const isStart = ({ text }: Line, at: number) =>
      at < end && (marks === '' ? text.trim() === '' : text.trimStart().startsWith(marks));
    const start = lines.findLastIndex(isStart) + (marks === '' ? 1 : 0);
    if (end < 0 || start < 0 || last.startsWith('</')) return false;
    this.#top.splice(start - lines.length);
    this.#top.push(...figureLines(lines.slice(start), caption));
    return true;
  }

  #takeText(text: string, line: number): void {
    const frame = this.#frames.at(-1);
    const label = frame && tabIn(frame.name, text);
    if (label !== undefined) {
      for (const one of ['', `**${label.trim()}**`, '']) this.#push(one, line);
      return;
    }
    const fence = tryOpeningFence(text.slice(0, 300));
    if (fence !== undefined) this.#openCode(text, fence, line);
    else for (const one of calloutLines(this.#plainIndent(text))) this.#push(one, line);
  }

  #openCode(text: string, fence: Fence, line: number): void {
    const indent = indentOf(text);
    const strip = this.dialect.isMdx && indent >= this.#item + 4 ? indent : 0;
    const info = tryFenceInfo(text, fence.marks);
    const { block } = info;
    const isRust = this.dialect.tree.isBook && block.isRust === true;
    this.#code = { ...block, isRust, fence, depth: this.#frames.length, strip, end: [] };
    this.#push(withoutIndent(info.text, strip), line);
    if (info.caption !== undefined) this.#captionCode(this.#code, info.caption, line);
  }

  /** Above the line that has just begun some code. */
  #captionCode(code: OpenCode, caption: string, line: number): void {
    const [pad = ''] = /^[ \t]*/.exec(this.#top.at(-1)?.text ?? '') ?? [];
    const isTab = /^code-?(?:group|tabs)$/i.test(this.#frames.at(-1)?.name ?? '');
    const figure = ['', '<figure>', '', `<figcaption>${caption.replaceAll('<', '&lt;')}</figcaption>`, ''];
    const above = isTab ? ['', `**${caption}**`, ''] : figure;
    this.#top.splice(-1, 0, ...above.map((text) => ({ text: text && pad + text, line })));
    if (!isTab) this.#code = { ...code, end: ['', `${pad}</figure>`, ''] };
  }

  /** In MDX, four blanks are no code. */
  #plainIndent(text: string): string {
    if (text.trim() === '') return text;
    const indent = indentOf(text);
    const [marker] = /^[ \t]*(?:[-*+]|\d{1,9}[.)])[ \t]+/.exec(text) ?? [];
    if (marker !== undefined) this.#item = marker.length;
    else if (indent === 0) this.#item = 0;
    return this.dialect.isMdx && marker === undefined && indent >= this.#item + 4
      ? ' '.repeat(this.#item) + text.slice(indent)
      : text;
  }
}

/** A quote of Obsidian that is an alert, with its kind as GitHub has it. */
function calloutLines(text: string): readonly string[] {
  const [, prefix = '', word = '', fold = '', label = ''] =
    /^([ \t]*(?:>[ \t]?)+)\[!([\w -]{1,40})\]([+-]?)[ \t]*([^\n]*)$/.exec(text) ?? [];
  if (word === '' || (tryAlertKind(word) === word.toLowerCase() && fold === '' && label === ''))
    return [text];
  const line = alertLine({ kind: 'alert', word, label, fold: fold as '' | '-' | '+' });
  return line.endsWith(']') ? [prefix + line] : [prefix + line, prefix.trimEnd()];
}

/** A picture of MyST with its description; what is below it is its caption. */
function pictureLines([picture, ...below]: readonly Line[], alt = ''): readonly Line[] {
  if (picture === undefined) return [];
  const described = picture.text.replace('![]', () => `![${alt.replace(/[[\]]/g, '')}]`);
  const shown = { ...picture, text: described };
  const caption = trimmed(below);
  return caption.length === 0 ? [shown] : figureLines([shown], caption);
}

function figureLines(content: readonly Line[], caption: readonly Line[]): readonly Line[] {
  const line = content[0]?.line ?? 1;
  const own = (...texts: readonly string[]) => texts.map((text) => ({ text, line }));
  const below = [
    ...own('', '<figcaption>', ''),
    ...caption,
    ...own('', '</figcaption>', '', '</figure>', ''),
  ];
  return [...own('<figure>', ''), ...trimmed(content), ...below];
}

function trimmed(lines: readonly Line[]): readonly Line[] {
  const isText = ({ text }: Line) => text.trim() !== '';
  const first = lines.findIndex(isText);
  return first < 0 ? [] : lines.slice(first, lines.findLastIndex(isText) + 1);
}

function indentOf(text: string): number {
  return /^[ \t]*/.exec(text)?.[0].length ?? 0;
}

/** Without so many blanks, of which a tab counts as four. */
function withoutIndent(text: string, columns: number): string {
  let at = 0;
  for (let column = 0; column < columns && /[ \t]/.test(text[at] ?? ''); at += 1)
    column += text[at] === '\t' ? 4 : 1;
  return at === 0 ? text : text.slice(at);
}
