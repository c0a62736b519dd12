import type { Line } from './dialect.ts';

/** Which lines of a file are included. */
export interface FilePart {
  /** Counted from 1; the end is included. */
  readonly from?: number;
  readonly to?: number;
  /** Of an anchor, a region or a heading. */
  readonly name?: string;
}

/** What a line includes. */
export interface WantedFile {
  readonly path: string;
  readonly part: FilePart;
  /** From where the path counts; the first place with the file is taken. */
  readonly bases: readonly ('root' | 'file')[];
  /** It is shown as code. */
  readonly isCode?: boolean;
  readonly language?: string;
  readonly caption?: string;
  readonly indent: string;
  /** How many lines say so. */
  readonly lines: number;
}

interface Around {
  readonly isInCode: boolean;
  readonly isVault: boolean;
  readonly partials: ReadonlyMap<string, string>;
}

/** Undefined if a line includes nothing. */
export function tryInclude(lines: readonly Line[], at: number, around: Around): WantedFile | undefined {
  const text = lines[at]?.text ?? '';
  if (text.length > 2_000 || !/[{<!-]/.test(text)) return undefined;
  const indent = /^[ \t]*/.exec(text)?.[0] ?? '';
  const line = text.trim();
  const base = { indent, lines: 1 };
  const found = tryAnywhere(line, around.isInCode);
  if (found !== undefined) return { ...base, ...found };
  if (around.isInCode) return undefined;
  const outside = tryOutsideOfCode(line);
  if (outside !== undefined) return { ...base, ...outside };
  const [, component = ''] = /^<([A-Z]\w*)(?:\s[^<>]*)?\/>$/.exec(line) ?? [];
  const partial = around.partials.get(component);
  if (partial !== undefined) return { ...base, path: partial, part: {}, bases: ['file'] };
  const [, note, heading] =
    (around.isVault && /^!\[\[([^[\]|#]+)(?:#([^[\]|]+))?(?:\|[^[\]]*)?\]\]$/.exec(line)) || [];
  if (note !== undefined && !/\.[a-z]\w{1,4}$/i.test(note.replace(/\.md$/i, '')))
    return {
      ...base,
      path: `${note.replace(/\.md$/i, '')}.md`,
      part: heading ? { name: heading } : {},
      bases: ['file', 'root'],
    };
  return tryDirective(lines, at);
}

type Form = Omit<WantedFile, 'indent' | 'lines'>;

/** Also within code. */
function tryAnywhere(line: string, isInCode: boolean): Form | undefined {
  const [, mdbook] =
    /^\{\{#(?:include|rustdoc_include|playground|playpen)\s+([^{}\s]+)[^{}]*\}\}$/.exec(line) ?? [];
  if (mdbook !== undefined) return { ...pathAndLines(mdbook), bases: ['file'] };
  const [, snippet] = /^-{1,3}8<-{1,3}\s+["']([^"']+)["']$/.exec(line) ?? [];
  if (snippet !== undefined) return { ...pathAndLines(snippet), bases: ['root', 'file'] };
  const [, quarto] = /^\{\{< include ([^\s<>]+) >\}\}$/.exec(line) ?? [];
  return quarto === undefined || isInCode ? undefined : { path: quarto, part: {}, bases: ['file', 'root'] };
}

function tryOutsideOfCode(line: string): Form | undefined {
  const [, comment] = /^<!--\s*@include:\s*([^<>]+?)\s*-->$/.exec(line) ?? [];
  if (comment !== undefined) return { ...pathAndRegion(comment), bases: ['file'] };
  const [, shown, braces, caption] =
    /^<<<\s*([^\s{[]+)(?:\s*\{([^{}]*)\})?(?:\s*\[([^[\]]*)\])?$/.exec(line) ?? [];
  if (shown !== undefined) {
    const language = /[a-z]\w*$/i.exec(braces ?? '')?.[0];
    return {
      ...pathAndRegion(shown),
      bases: ['file'],
      isCode: true,
      ...(language ? { language } : {}),
      ...(caption ? { caption } : {}),
    };
  }
  const [, macro] = /^\{!\s*([^{}!]+?)\s*!\}$/.exec(line) ?? [];
  if (macro !== undefined) return { ...pathAndLines(macro), bases: ['root', 'file'] };
  const [, code, from, to] =
    /^\{\*\s*([^\s{}*]+)(?:[^{}*]*?\bln\[(\d+)(?::(\d+))?[^\]]*\])?[^{}*]*\*\}$/.exec(line) ?? [];
  if (code !== undefined)
    return {
      path: code,
      part: from ? { from: Number(from), to: Number(to ?? from) } : {},
      bases: ['root', 'file'],
      isCode: true,
    };
  const [, plugin] = /^\{%-?\s*include-markdown\s+["']([^"']+)["'][^%]*%\}$/.exec(line) ?? [];
  if (plugin !== undefined) return { path: plugin, part: {}, bases: ['file', 'root'] };
  const [, hugo] = /^\{\{[%<]\s*include\s+["']([^"']+)["']\s*[%>]\}\}$/.exec(line) ?? [];
  if (hugo !== undefined) return { path: hugo, part: {}, bases: ['file', 'root'] };
  const [, relative, jekyll] = /^\{%-?\s*include(_relative)?\s+([\w./-]+)[^%]*%\}$/.exec(line) ?? [];
  if (jekyll === undefined) return undefined;
  return relative
    ? { path: jekyll, part: {}, bases: ['file'] }
    : { path: `/_includes/${jekyll}`, part: {}, bases: ['root'] };
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
      const [, from, to] = /^(\d+)(?:-(\d+))?/.exec(options.get('lines') ?? '') ?? [];
      const part = from === undefined ? {} : { from: Number(from), to: Number(to ?? from) };
      const language = options.get('language');
      const shown = name === 'literalinclude' ? { isCode: true, ...(language ? { language } : {}) } : {};
      return { path, part, bases: ['file', 'root'], indent, lines: next - at + 1, ...shown };
    }
    const [, key, value = ''] = /^:([\w-]+):\s*(.*)$/.exec(text) ?? [];
    if (key !== undefined) options.set(key, value);
    else if (text !== '') return undefined;
  }
  return undefined;
}

/** `f`, `f:2`, `f:2:10`, `f::10`, `f:2:` and `f:name`. */
function pathAndLines(written: string): Pick<WantedFile, 'path' | 'part'> {
  const [path = '', first, second] = written.trim().split(':');
  if (first === undefined) return { path, part: {} };
  if (first !== '' && !/^\d+$/.test(first)) return { path, part: { name: first } };
  const from = first === '' ? {} : { from: Number(first) };
  if (second === undefined) return { path, part: { ...from, to: Number(first) } };
  return { path, part: { ...from, ...(second === '' ? {} : { to: Number(second) }) } };
}

/** `f#region{3,9}`. */
function pathAndRegion(written: string): Pick<WantedFile, 'path' | 'part'> {
  const [, path = written, name, from, to] =
    /^([^#{}]+)(?:#([^{}]+))?(?:\{(\d*),?(\d*)\})?/.exec(written) ?? [];
  return {
    path: path.trim(),
    part: {
      ...(name ? { name } : {}),
      ...(from ? { from: Number(from) } : {}),
      ...(to ? { to: Number(to) } : {}),
    },
  };
}

/** The lines of a text that a part names; undefined if there are none. */
export function partOf(text: string, { from = 1, to, name }: FilePart): string | undefined {
  const lines = text.replaceAll('\r\n', '\n').split('\n');
  const part = name === undefined ? lines : linesNamed(lines, name);
  return part?.slice(from - 1, to).join('\n');
}

/** Between the marks of mdBook, PyMdown and editors, or below a heading. Lines with such marks are left out. */
function linesNamed(lines: readonly string[], name: string): readonly string[] | undefined {
  const isMark = (line: string) =>
    /\bANCHOR(?:_END)?:|-8<-+\s*\[(?:start|end):|#?\b(?:end)?region\b/i.test(line);
  const says = (line: string, word: RegExp) => isMark(line) && (word.exec(line)?.[1] ?? '').trim() === name;
  const start = lines.findIndex((line) => says(line, /(?:ANCHOR:|\[start:|(?<!end)region\b)\s*([\w.-]+)/i));
  if (start < 0) return linesBelow(lines, name);
  const end = lines.findIndex(
    (line, at) => at > start && says(line, /(?:ANCHOR_END:|\[end:|endregion\b)\s*([\w.-]+)/i),
  );
  return lines.slice(start + 1, end < 0 ? undefined : end).filter((line) => !isMark(line));
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
