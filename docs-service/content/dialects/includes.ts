import { dirname, extname, join } from 'node:path/posix';
import { headingAnchors } from '../headings.ts';
import { DocumentPlaces, resolveLink } from '../links.ts';
import { closesFence, type Fence, replaceParts, tryOpeningFence } from '../markdownLines.ts';
import { documentEnding } from '../slug.ts';
import { longestRun } from './codeBlocks.ts';
import type { Dialect, Line } from './dialect.ts';
import { type ImportedFile, partOf, tryInclude, type WantedFile } from './includeForms.ts';

/**
 * Reads a file for a text that includes it: a place from the content folder. Undefined if it may not be included.
 * @param isTitled whether the title that its front matter gives it comes as its first heading
 */
export type IncludeFile = (path: string, isTitled?: boolean) => string | undefined;

const maxDepth = 10;
const maxIncludes = 200;
/** In UTF-16 units, for a document. */
const maxLength = 2_000_000;

/** The lines of a text with the files that it includes in their places. Files of Markdown may include others. */
export function withIncludes(lines: readonly Line[], dialect: Dialect, read: IncludeFile): readonly Line[] {
  return new Includer(dialect, read).expand(lines, [dialect.path]);
}

class Includer {
  #count = 0;
  #length = 0;

  constructor(
    private readonly dialect: Dialect,
    private readonly read: IncludeFile,
  ) {}

  expand(written: readonly Line[], chain: readonly string[]): readonly Line[] {
    const out: Line[] = [];
    const lines = withSnippetLines(written);
    const partials = importedIn(lines);
    let code: { readonly fence: Fence; readonly at: number; longest: number } | undefined;
    for (let at = 0; at < lines.length; at += 1) {
      const { text, line } = lines[at] ?? { text: '', line: 1 };
      const isInCode = code !== undefined;
      const wanted = tryInclude(lines, at, { isInCode, partials, isVault: this.dialect.tree.isVault });
      if (wanted !== undefined) {
        const inner = this.#include(wanted, line, chain, isInCode);
        if (code) code.longest = Math.max(code.longest, longestRun(inner));
        for (const one of inner) out.push(one);
        at += wanted.lines - 1;
      } else if (code === undefined) {
        const fence = tryOpeningFence(text.slice(0, 300));
        if (fence !== undefined) code = { fence, at: out.length, longest: 0 };
        out.push({ text, line });
      } else if (closesFence(text.slice(0, 300), code.fence)) {
        const { marks } = code.fence;
        const long = marks.charAt(0).repeat(Math.max(marks.length, code.longest + 1));
        const opening = out[code.at];
        if (opening) out[code.at] = { ...opening, text: opening.text.replace(marks, long) };
        out.push({ text: long.length > marks.length ? text.replace(/[`~]+/, long) : text, line });
        code = undefined;
      } else out.push({ text, line });
    }
    return out;
  }

  #include(wanted: WantedFile, line: number, chain: readonly string[], isInCode: boolean): readonly Line[] {
    const from = chain.at(-1) ?? '';
    const folders = wanted.from === 'root' ? foldersAbove(from) : foldersAbove(from).reverse();
    const named = wanted.note && this.dialect.tree.tryNamed(wanted.note, from);
    const places = [named || undefined, ...folders.map((folder) => this.#placeOf(wanted.path, folder))];
    for (const place of new Set(places)) {
      const text = place === undefined || chain.includes(place) ? undefined : this.#tryRead(place);
      if (place === undefined || text === undefined || chain.length > maxDepth) continue;
      const part = partOf(text, wanted.part);
      if (part === undefined) continue;
      this.#length += part.length;
      const indent = wanted.indent;
      const lines = part
        .replace(/\n$/, '')
        .split('\n')
        .map((one) => ({ text: one === '' ? '' : indent + one, line }));
      if (isInCode) return lines;
      if (wanted.isCode) return fenced(lines, wanted, place, line);
      if (!documentEnding.test(place)) return lines;
      const rebased =
        dirname(place) === dirname(this.dialect.path)
          ? lines
          : lines.map((one) => withRootedLinks(one, dirname(place)));
      return this.expand(rebased, [...chain, place]);
    }
    this.dialect.note('include', wanted.path, line);
    return [{ text: `${wanted.indent}Not included: ${wanted.path}`, line }];
  }

  /** From the content folder; undefined if it may not be included. */
  #placeOf(written: string, folder: string): string | undefined {
    const path = written.replace(/^@(?:site)?\//, '/');
    if (/[\0\\]|^[a-z]+:/i.test(path)) return undefined;
    const isRooted = path.startsWith('/') && `${folder}/` !== this.dialect.tree.docs;
    const place = join(isRooted ? '' : folder, path.replace(/^\/+/, ''));
    if (place.startsWith('../')) return this.dialect.tree.tryOther(place);
    const own = folder.startsWith('.files/') ? place.replace(/^\.files\//, '') : place;
    const shown = own.replace(/(^|\/)\.gitbook\//, '$1');
    return shown.split('/').some((part) => part.startsWith('.')) ? undefined : place;
  }

  #tryRead(path: string): string | undefined {
    if (this.#count >= maxIncludes || this.#length > maxLength) return undefined;
    this.#count += 1;
    return this.read(path);
  }
}

/** The content folder and each folder down to that of a file: programs count from the one with their configuration. */
export function foldersAbove(path: string): string[] {
  const parts = dirname(path) === '.' ? [] : dirname(path).split('/');
  return ['', ...parts.map((_, at) => parts.slice(0, at + 1).join('/')).slice(0, 20)];
}

function fenced(
  lines: readonly Line[],
  { language, indent, caption }: WantedFile,
  place: string,
  line: number,
): readonly Line[] {
  const marks = '`'.repeat(Math.max(3, longestRun(lines) + 1));
  const title = caption === undefined ? '' : ` title="${caption.replaceAll('"', '')}"`;
  const opening = `${indent}${marks}${language ?? extname(place).slice(1)}${title}`;
  return ['', opening, ...lines, `${indent}${marks}`, ''].map((one) =>
    typeof one === 'string' ? { text: one, line } : one,
  );
}

/** The links of a file count from its own folder. */
function withRootedLinks({ text, line }: Line, folder: string): Line {
  const rooted = text.replace(
    /(\]\(<?)(?![a-z][a-z0-9+.-]*:|[/#<@~])([^)\s>]+)/gi,
    (_all, before: string, path: string) => `${before}/${join(folder, path)}`,
  );
  return { text: rooted, line };
}

/** The files that a text of MDX imports, by their names in it. */
function importedIn(lines: readonly Line[]): ReadonlyMap<string, ImportedFile> {
  const form = /^import\s+(\w+)\s+from\s+['"](!!raw-loader!)?((?:\.|@site\/|\/)[^'"?]+)(\?raw)?['"]/;
  return new Map(
    lines.flatMap(({ text }) => {
      const [, name, loader, path, query] = text.startsWith('import') ? (form.exec(text) ?? []) : [];
      const isCode = (loader ?? query) !== undefined;
      if (name === undefined || path === undefined || !(isCode || /\.(?:mdx?|markdown)$/.test(path)))
        return [];
      return [[name, { path, isCode }] as const];
    }),
  );
}

const scissors = /^[ \t]*-{1,3}8<-{1,3}[ \t]*$/;

/** The files between two lines of scissors, each in a line of the other form. */
function withSnippetLines(lines: readonly Line[]): readonly Line[] {
  if (!lines.some(({ text }) => scissors.test(text))) return lines;
  const count = lines.filter(({ text }) => scissors.test(text)).length;
  let seen = 0;
  return lines.map(({ text, line }) => {
    if (scissors.test(text) && (seen % 2 === 1 || seen + 1 < count)) {
      seen += 1;
      return { text: '', line };
    }
    if (seen % 2 === 0) return { text, line };
    const [, indent = '', name] = /^([ \t]*)([^;\s][^"]*)$/.exec(text) ?? [];
    return { text: name === undefined ? '' : `${indent}--8<-- "${name.trim()}"`, line };
  });
}

const unnamedLink = /(?<!!)\[\]\(<?([^()<>\s]{1,1000})>?\)/g;
const maxLinks = 2_000;

/** Links of MyST without a text get the text of the heading, or the title of the document, that they lead to. */
export function withNamedLinks(text: string, dialect: Dialect, read: IncludeFile = () => undefined): string {
  const prose = text.includes('[](') ? dialect.proseOf(text) : '';
  if (prose.search(unnamedLink) < 0) return text;
  const files = new Map([['', namedPlaces(text, prose)]]);
  let [count, length] = [0, 0];
  const placesIn = (path: string) => {
    const known = files.get(path);
    const isHidden = /(?:^|\/)\./.test(path) || !documentEnding.test(path);
    if (known || isHidden || files.size > maxIncludes || length > maxLength) return known;
    const file = read(path, true) ?? '';
    length += file.length;
    files.set(path, namedPlaces(file));
    return files.get(path);
  };
  const replacementAt = ({ 0: whole, 1: href = '', index }: RegExpExecArray) => {
    const target = resolveLink(href, dialect.path);
    if (target.kind === 'external' || target.kind === 'none' || ++count > maxLinks) return undefined;
    const name = placesIn(target.kind === 'inside' ? target.path : '')?.(target.fragment);
    const shown = name?.slice(0, 500).replace(/[\\`*_[\]<&~$|]/g, '\\$&');
    return shown ? { end: index + whole.length, text: `[${shown}${whole.slice(1)}` } : undefined;
  };
  return replaceParts(text, unnamedLink, replacementAt, prose);
}

/** The text of the heading that a fragment means; without one, the title. */
function namedPlaces(text: string, prose?: string): (fragment: string | null) => string | undefined {
  const headings = [...headingAnchors(text, prose)];
  const texts = new Map(headings.map((heading) => [heading.id, heading.text]));
  const places = new DocumentPlaces(texts.keys(), headings);
  return (fragment) => (fragment ? texts.get(places.tryFind(fragment) ?? '') : headings[0]?.text);
}
