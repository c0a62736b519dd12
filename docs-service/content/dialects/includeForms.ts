import type { Line } from './dialect.ts';

export interface FilePart {
  /** Counted from 1; the end is included. */
  readonly from?: number | undefined;
  readonly to?: number | undefined;
  /** Of an anchor, a region or a heading. */
  readonly name?: string | undefined;
  /** A text in the line before them, and in the line after them. */
  readonly after?: string | undefined;
  readonly before?: string | undefined;
}

/** What a line includes. */
export interface WantedFile {
  readonly path: string;
  readonly part: FilePart;
  /** From where the path counts first; then the folders between are tried. */
  readonly from: 'root' | 'file';
  /** The name of a note, wherever it is. */
  readonly note?: string;
  /** It is shown as code. */
  readonly isCode?: boolean;
  readonly language?: string | undefined;
  readonly caption?: string | undefined;
  readonly indent: string;
  /** How many lines say so. */
  readonly lines: number;
}

interface Around {
  readonly isInCode: boolean;
  readonly isVault: boolean;
  readonly partials: ReadonlyMap<string, ImportedFile>;
}

/** A file that a text of MDX imports, as Markdown or as the text of a program. */
export interface ImportedFile {
  readonly path: string;
  readonly isCode: boolean;
}

interface IncludeForm {
  readonly pattern: RegExp;
  readonly from: WantedFile['from'];
  readonly isCode?: boolean;
  readonly mayBeInCode?: boolean;
  /** Where its program has such files. */
  readonly folder?: string;
}

const forms: readonly IncludeForm[] = [
  {
    pattern: /^\{\{#(?:include|rustdoc_include|playground|playpen)\s+(?<path>[^{}\s]+)[^{}]*\}\}$/,
    ...{ from: 'file', mayBeInCode: true },
  },
  { pattern: /^-{1,3}8<-{1,3}\s+["'](?<path>[^"']+)["']$/, from: 'root', mayBeInCode: true },
  { pattern: /^\{\{< include (?<path>[^\s<>]+) >\}\}$/, from: 'file' },
  { pattern: /^<!--\s*@include:\s*(?<path>[^<>]+?)\s*-->$/, from: 'file' },
  {
    pattern:
      /^<<<\s*(?<path>[^\s{[]+)(?:\s*\{[^{}]*?(?<language>[a-z]\w*)?\})?(?:\s*\[(?<caption>[^[\]]*)\])?$/i,
    ...{ from: 'file', isCode: true },
  },
  { pattern: /^\{!\s*(?<path>[^{}!]+?)\s*!\}$/, from: 'root' },
  {
    pattern:
      /^\{\*\s*(?<path>[^\s{}*]+)(?:[^{}*]*?\bln\[(?<first>\d+)(?::(?<last>\d+))?[^\]]*\])?[^{}*]*\*\}$/,
    ...{ from: 'root', isCode: true },
  },
  { pattern: /^\{%-?\s*include-markdown\s+["'](?<path>[^"']+)["'](?<rest>[^%]*)%\}$/, from: 'file' },
  { pattern: /^\{%-?\s*include\s+["'](?<path>[^"']+)["'][^%]*%\}$/, from: 'file' },
  { pattern: /^\{\{[%<]\s*include\s+["'](?<path>[^"']+)["']\s*[%>]\}\}$/, from: 'file' },
  { pattern: /^\{%-?\s*include_relative\s+(?<path>[\w./-]+)[^%]*%\}$/, from: 'file' },
  { pattern: /^\{%-?\s*include\s+(?<path>[\w./-]+)[^%]*%\}$/, from: 'root', folder: '/_includes/' },
];

/** Undefined if a line includes nothing. */
export function tryInclude(lines: readonly Line[], at: number, around: Around): WantedFile | undefined {
  const text = lines[at]?.text ?? '';
  if (text.length > 2_000 || !/[{<!-]/.test(text)) return undefined;
  const line = text.trim();
  const base = { indent: /^[ \t]*/.exec(text)?.[0] ?? '', lines: 1 };
  for (const { pattern, from, isCode = false, mayBeInCode = false, folder = '' } of forms) {
    const groups = around.isInCode && !mayBeInCode ? undefined : pattern.exec(line)?.groups;
    const { path, first, last, language, caption, rest = '' } = groups ?? {};
    if (path === undefined) continue;
    const lines = first === undefined ? {} : { from: Number(first), to: Number(last ?? first) };
    const wanted = pathAndPart(folder + path);
    const [after, before] = ['start', 'end'].map(
      (key) => new RegExp(`\\s${key}=["']([^"']+)["']`).exec(rest)?.[1],
    );
    const part = { ...wanted.part, ...lines, after, before };
    return { ...base, ...wanted, part, from, isCode, language, caption };
  }
  if (around.isInCode) return undefined;
  const component = around.partials.size === 0 ? undefined : tryComponent(lines, at, around.partials);
  if (component !== undefined) return { ...base, ...component };
  const [, note, heading] =
    (around.isVault && /^!\[\[([^[\]|#]+)(?:#([^[\]|]+))?(?:\|[^[\]]*)?\]\]$/.exec(line)) || [];
  const stem = note?.replace(/\.md$/i, '');
  if (stem !== undefined && !/\.[a-z]\w{1,5}$/i.test(stem))
    return {
      ...base,
      path: `${stem}.md`,
      note: stem,
      part: { name: heading?.split('#').at(-1) },
      from: 'file',
    };
  return tryDirective(lines, at);
}

/** An element that shows an imported file, also over three lines: `<Part />`, `<Code code={part} />`. */
function tryComponent(lines: readonly Line[], at: number, partials: Around['partials']) {
  const [, name = ''] = /^\s*<([A-Z]\w*)/.exec(lines[at]?.text ?? '') ?? [];
  const own = partials.get(name);
  if (own !== undefined)
    return /^\s*<\w+(?:\s[^<>]*)?\/>\s*$/.test(lines[at]?.text ?? '')
      ? ({ path: own.path, part: {}, from: 'file', isCode: own.isCode } as const)
      : undefined;
  if (!/^Code/.test(name)) return undefined;
  for (const length of [1, 3]) {
    const texts = lines.slice(at, at + length).map(({ text }) => text.trim());
    const [, attributes = '', inner] =
      /^<Code\w*((?:\s[^<>]*)?)(?:\/>|>\{(\w+)\}<\/Code\w*>)$/.exec(texts.join('')) ?? [];
    const file = partials.get(inner ?? /\bcode=\{(\w+)\}/.exec(attributes)?.[1] ?? '');
    if (!file?.isCode) continue;
    const [language, caption] = ['lang(?:uage)?', 'title'].map(
      (key) => new RegExp(`\\s${key}=["']([^"']*)["']`).exec(attributes)?.[1],
    );
    return {
      path: file.path,
      part: {},
      from: 'file',
      isCode: true,
      language,
      caption,
      lines: length,
    } as const;
  }
  return undefined;
}

/** A fence of MyST, with its options. */
function tryDirective(lines: readonly Line[], at: number): WantedFile | undefined {
  const [, indent = '', marks = '', name, path = ''] =
    /^([ \t]*)(`{3,}|~{3,}|:{3,})\{(include|literalinclude)\}[ \t]+(\S+)[ \t]*$/.exec(
      lines[at]?.text ?? '',
    ) ?? [];
  if (name === undefined) return undefined;
  const options = new Map<string, string>();
  for (let next = at + 1; next < lines.length; next += 1) {
    const text = lines[next]?.text.trim() ?? '';
    if (text.startsWith(marks)) {
      const [, first, last = first] = /^(\d+)(?:-(\d+))?/.exec(options.get('lines') ?? '') ?? [];
      const part = {
        ...(first === undefined ? {} : { from: Number(first), to: Number(last) }),
        after: options.get('start-after'),
        before: options.get('end-before'),
      };
      const [language, caption] = [options.get('language'), options.get('caption')];
      const shown = { isCode: name === 'literalinclude', language, caption };
      return { path, part, from: 'file', indent, lines: next - at + 1, ...shown };
    }
    const [, key, value = ''] = /^:([\w-]+):\s*(.*)$/.exec(text) ?? [];
    if (key !== undefined) options.set(key, value);
    else if (text !== '') return undefined;
  }
  return undefined;
}

/** `f`, `f:2`, `f:2:10`, `f::10`, `f:2:`, `f:name`, `f#name` and `f#name{3,9}`. */
function pathAndPart(written: string): Pick<WantedFile, 'path' | 'part'> {
  const [, path = written, first, colon, second, name, start, end] =
    /^([^:#{}]+)(?::(\d*)(:)?(\d*)|[:#]([^{}]+))?(?:\{(\d*),?(\d*)\})?$/.exec(written.trim()) ?? [];
  const from = Number(first || start) || undefined;
  const to = Number(second || end || (colon === undefined && first)) || undefined;
  return { path: path.trim(), part: { name, from, to } };
}

/** The lines of a text that a part names; undefined if there are none. */
export function partOf(text: string, { from = 1, to, name, after, before }: FilePart): string | undefined {
  const lines = text.replaceAll('\r\n', '\n').split('\n');
  const part = name === undefined ? lines : linesNamed(lines, name);
  const between = part && textBetween(part.join('\n'), after, before);
  return between
    ?.split('\n')
    .slice(from - 1, to)
    .join('\n');
}

/** What is between two texts; undefined if one of them is missing. Of a comment around them, nothing stays. */
function textBetween(
  text: string,
  after: string | undefined,
  before: string | undefined,
): string | undefined {
  const start = after === undefined ? 0 : text.indexOf(after);
  const rest = start < 0 ? undefined : text.slice(start + (after?.length ?? 0));
  const end = before === undefined ? rest?.length : rest?.indexOf(before);
  if (rest === undefined || end === undefined || end < 0) return undefined;
  const lines = rest.slice(0, end).split('\n');
  const isRest = (line: string | undefined, marks: RegExp) => marks.test(line?.trim() ?? '');
  const first = after !== undefined && isRest(lines[0], /^(?:-->|\*\/)?$/) ? 1 : 0;
  const last = before !== undefined && isRest(lines.at(-1), /^(?:<!--|%|#|\/\/|\/\*)?$/) ? -1 : undefined;
  return lines.slice(first, last).join('\n');
}

/** Between the marks of mdBook, PyMdown and editors, or below a heading. Lines with such marks are left out. */
function linesNamed(lines: readonly string[], name: string): readonly string[] | undefined {
  const isMark = (line: string) =>
    /\bANCHOR(?:_END)?:|-8<-+\s*\[(?:start|end):|#?\b(?:end)?region\b/i.test(line);
  const says = (line: string, word: RegExp) => isMark(line) && (word.exec(line)?.[1] ?? '').trim() === name;
  const start = lines.findIndex((line) => says(line, /(?:ANCHOR:|\[start:|(?<!end)region\b)\s*([\w.-]+)/i));
  if (start < 0) return name.startsWith('^') ? blockNamed(lines, name) : linesBelow(lines, name);
  const end = lines.findIndex(
    (line, at) => at > start && says(line, /(?:ANCHOR_END:|\[end:|endregion\b)\s*([\w.-]+)/i),
  );
  return lines.slice(start + 1, end < 0 ? undefined : end).filter((line) => !isMark(line));
}

/** The paragraph, or the item of a list, that ends with `^name`, or the block before such a line. */
function blockNamed(lines: readonly string[], name: string): readonly string[] | undefined {
  const at = lines.findIndex((line) => line.endsWith(name) && /(?:^|\s)$/.test(line.slice(0, -name.length)));
  if (at < 0) return undefined;
  const last = (lines[at] ?? '').slice(0, -name.length).trimEnd();
  if (/^\s*(?:[-*+]|\d{1,9}[.)])\s/.test(last)) return [last.trimStart()];
  const end = last === '' ? lines.findLastIndex((line, index) => index < at && line.trim() !== '') + 1 : at;
  const start = lines.findLastIndex((line, index) => index < end && line.trim() === '') + 1;
  return [...lines.slice(start, end), last];
}

function linesBelow(lines: readonly string[], heading: string): readonly string[] | undefined {
  const folded = (text: string) => text.toLowerCase().replace(/[^\p{L}\p{N}]+/gu, '');
  const headings = lines.map((line) => /^(#{1,6})\s+(.*?)(?:\s*\{#([\w-]+)\})?\s*#*$/.exec(line));
  const start = headings.findIndex(
    (found) => found && [found[2], found[3]].some((one) => folded(one ?? '') === folded(heading)),
  );
  if (start < 0) return undefined;
  const depth = headings[start]?.[1]?.length ?? 1;
  const end = headings.findIndex((found, at) => at > start && found && (found[1]?.length ?? 7) <= depth);
  return lines.slice(start, end < 0 ? undefined : end);
}
