import { slug } from 'github-slugger';
import { cleanId } from '../headings.ts';
import { replaceParts } from '../markdownLines.ts';
import type { Dialect, Line } from './dialect.ts';
import { containerLines, tryAlertKind } from './kinds.ts';

/**
 * The lines of a text with what dialects write within a line: ids, lists of attributes, wikilinks, icons. An id becomes
 * `<a id="x"></a>` in its heading or at the beginning of its block.
 */
export function withPlainMarks(lines: readonly Line[], dialect: Dialect, isMyst: boolean): readonly Line[] {
  const text = lines.map((line) => line.text).join('\n');
  if (!marks.test(text)) return lines;
  return new MarkReader(lines, dialect, isMyst).read();
}

const marks =
  /\{[:#.{]|\{ *[#.\w]|\{\/\*|\)=\s*$|\[\[|\[TOC\]|^\*\[|:(?:material|fontawesome|octicons|simple|fa)-|\^[\w-]+[ \t]*$|%%|^%[ \t]|^\+\+\+|(?:^|\s)#\p{L}/mu;

/** In a longer line nothing is looked for. */
const maxLine = 5_000;

class MarkReader {
  readonly #lines: readonly Line[];
  readonly #prose: readonly string[];
  readonly #out: Line[] = [];
  /** How often each id was written. */
  readonly #ids = new Map<string, number>();
  /** Of the next block. */
  #waiting: { readonly id?: string | undefined; readonly kind?: string | undefined } = {};

  constructor(
    lines: readonly Line[],
    private readonly dialect: Dialect,
    private readonly isMyst: boolean,
  ) {
    const text = lines.map((line) => line.text).join('\n');
    const shown = dialect.tree.isVault ? withoutPercents(text) : text;
    this.#lines = shown.split('\n').map((one, at) => ({ text: one, line: lines[at]?.line ?? 1 }));
    this.#prose = dialect.proseOf(shown).split('\n');
  }

  read(): readonly Line[] {
    for (let at = 0; at < this.#lines.length; at += 1) this.#take(at);
    return this.#out;
  }

  #take(at: number): void {
    const { text, line } = this.#lines[at] ?? { text: '', line: 1 };
    const prose = this.#prose[at] ?? '';
    if (text.trim() === '' || (prose.trim() === '' && this.#waiting.id === undefined)) this.#push(text, line);
    else if (isRemoved(prose) || (this.isMyst && this.#isBlockStart() && isAside.test(prose)))
      this.#removeLine(prose, line);
    else if (!this.#isForBlock(prose, line)) {
      const isUnderlined = /^ {0,3}(?:=+|-+)[ \t\r]*$/.test(this.#prose[at + 1] ?? '');
      const isHeading = isUnderlined || /^[ \t>]*#{1,6}[ \t]/.test(prose);
      this.#pushBlockStart(this.#plain(text, isHeading, line), line);
    }
  }

  #push(text: string, line: number): void {
    this.#out.push({ text, line });
  }

  #isBlockStart(): boolean {
    return /^\s*(?:#{1,6}[ \t].*)?$/.test(this.#out.at(-1)?.text ?? '');
  }

  /** A list item that only stands for the contents goes with their mark. */
  #removeLine(prose: string, line: number): void {
    const last = this.#out.at(-1);
    if (/^\s*\$?\{/.test(prose) && last && /^\s*(?:[-*+]|\d+[.)])\s/.test(last.text))
      this.#out[this.#out.length - 1] = { ...last, text: '' };
    this.#push('', line);
  }

  /** A line that only names the block before or after it. */
  #isForBlock(prose: string, line: number): boolean {
    const [, name] = /^\s*\(([^()\s]{1,200})\)=\s*$/.exec(prose) ?? [];
    const [, listed] = /^[ \t>]*\{:?[ \t]*([^{}]{1,300})\}\s*$/.exec(prose) ?? [];
    const found = name === undefined ? listed && tryAttributes(listed) : { id: name, classes: [] };
    if (!found) return false;
    if (name !== undefined) this.dialect.targets.add(name);
    const kind = found.classes.find((one) => tryAlertKind(one.replace(/-title$/, '')) !== undefined);
    const isAfter = name === undefined && this.#out.at(-1)?.text.trim();
    const id = found.id === undefined ? undefined : this.#newId(found.id, line);
    if (isAfter) this.#markBlockBefore(id, kind);
    else this.#waiting = { id: id ?? this.#waiting.id, kind: kind ?? this.#waiting.kind };
    return true;
  }

  #markBlockBefore(id: string | undefined, kind: string | undefined): void {
    const start = this.#out.findLastIndex(({ text }) => text.trim() === '') + 1;
    const first = this.#out[start];
    if (first === undefined) return;
    if (id !== undefined) this.#out.splice(start, 1, ...withAnchor(first, id));
    if (kind === undefined) return;
    const block = this.#out
      .splice(start)
      .map((one) => ({ ...one, text: one.text.replace(/^[ \t]*> ?/, '') }));
    this.#out.push(...containerLines({ kind: 'alert', word: kind, label: '' }, block, first.line));
  }

  #pushBlockStart(text: string, line: number): void {
    const { id, kind } = this.#waiting;
    this.#waiting = {};
    for (const one of id === undefined ? [{ text, line }] : withAnchor({ text, line }, id))
      this.#out.push(one);
    if (kind === undefined) return;
    const [first] = this.#out.splice(-1).map((one) => ({ ...one, text: one.text.replace(/^[ \t]*> ?/, '') }));
    const word = kind.replace(/-title$/, '');
    const label = word === kind ? '' : (first?.text ?? '');
    const lines = containerLines({ kind: 'alert', word, label }, first && word === kind ? [first] : [], line);
    this.#out.push(...lines.filter(({ text }) => text !== ''));
  }

  #plain(text: string, isHeading: boolean, line: number): string {
    if (text.length > maxLine || !/[{[^:#]/.test(text)) return text;
    let shown = isHeading ? this.#plainHeading(text, line) : text;
    if (shown.includes('{')) shown = this.#plainAttributes(shown, line);
    if (shown.includes('[[')) shown = withPlainWikilinks(shown, this.dialect, line);
    if (shown.includes(':')) shown = replaceProse(shown, icon, () => '');
    if (this.dialect.tree.isVault && !isHeading) shown = this.#plainVaultMarks(shown, line);
    return shown;
  }

  #plainHeading(text: string, line: number): string {
    const [whole, before = '', comment, braces] =
      /^(.*?)[ \t]*(?:\{\/\*[ \t]*#?([\w.:-]{1,200})[ \t]*\*\/\}|\\?\{:?[ \t]*([^{}\n]{1,300})\\?\})[ \t]*#*[ \t]*$/.exec(
        text,
      ) ?? [];
    if (whole === undefined) return text;
    const found = comment === undefined ? tryAttributes(braces ?? '') : { id: comment };
    if (found === undefined && braces !== '-') return text;
    const shown = before.replace(/[ \t]+#+$/, '');
    return found?.id === undefined ? shown : `${shown} <a id="${this.#newId(found.id, line)}"></a>`;
  }

  /** `[text]{#id .class}`, and lists after anything else. */
  #plainAttributes(text: string, line: number): string {
    const roles = replaceProse(text, role, (whole, name = '', said = '') => roleText(name, said) ?? whole);
    const spans = replaceProse(roles, span, (whole, shown = '', list = '') => {
      const found = tryAttributes(list);
      return found === undefined ? whole : `${this.#anchor(found.id, line)}${shown}`;
    });
    return replaceProse(spans, attributes, (whole, colon = '', list = '') => {
      const found = colon === '' ? tryAttributes(list) : (tryAttributes(list) ?? { id: undefined });
      return found === undefined ? whole : this.#anchor(found.id, line);
    });
  }

  #plainVaultMarks(text: string, line: number): string {
    for (const [, tag = ''] of text.matchAll(vaultTag)) this.dialect.tags.add(tag);
    const [whole, before = '', id = ''] = /^(.*?)[ \t]*\^([\w-]{1,200})[ \t]*$/.exec(text) ?? [];
    if (whole === undefined) return text;
    const [, prefix = '', rest = ''] = /^([ \t]*(?:(?:[-*+>]|\d{1,9}[.)])[ \t]+)*)(.*)$/.exec(before) ?? [];
    return `${prefix}${this.#anchor(id, line)}${rest}`;
  }

  #anchor(id: string | undefined, line: number): string {
    return id === undefined ? '' : `<a id="${this.#newId(id, line)}"></a>`;
  }

  #newId(written: string, line: number): string {
    const id = cleanId(written);
    const used = this.#ids.get(id) ?? 0;
    this.#ids.set(id, used + 1);
    if (used === 0) return id;
    this.dialect.note('duplicate-id', id, line);
    return this.#newId(`${id}-${used}`, line);
  }
}

/** A comment of MyST, or where a cell of a notebook ends; in other texts such a line is a part of the text. */
const isAside = /^(?:%[ \t]|\+\+\+[ \t]*(?:\{.*\}[ \t]*)?$)/;

/** Contents that a program would make, and the meanings of abbreviations. */
function isRemoved(prose: string): boolean {
  return (
    /^\s*(?:\[\[_?toc_?\]\]|\[TOC\]|\{:[ \t]*toc[ \t]*\}|\$\{toc\})\s*$/i.test(prose) ||
    /^\*\[[^\]\n]+\]:[ \t]/.test(prose)
  );
}

/** The id and the classes. Undefined if it is no list of attributes: `{name}` is text. */
function tryAttributes(list: string) {
  const tokens = list.match(/[\w:@-]+=(?:"(?:[^"\\]|\\.)*"|'[^']*'|\S+)|\S+/g) ?? [];
  if (
    tokens.length === 0 ||
    !tokens.every((token) =>
      /^(?:#[\p{L}\p{N}_][^\s#<>"']*|\.[\p{L}\p{N}_][\p{L}\p{N}\p{M}_.:-]*|[\w:@-]+=.*)$/u.test(token),
    )
  )
    return undefined;
  const id = tokens.find((token) => token.startsWith('#'))?.slice(1);
  const classes = tokens.filter((token) => token.startsWith('.')).map((token) => token.slice(1));
  return { id, classes };
}

/** The first line of a block with an id: within its text if it is a paragraph or a heading. */
function withAnchor({ text, line }: Line, id: string): readonly Line[] {
  const anchor = `<a id="${id}"></a>`;
  if (/^ {0,3}#{1,6}[ \t]/.test(text)) return [{ text: `${text} ${anchor}`, line }];
  if (!/^[ \t]*(?:[-*+>|<]|\d+[.)]|```|~~~|$)| {4}/.test(text)) return [{ text: `${anchor}${text}`, line }];
  return [anchor, '', text].map((one) => ({ text: one, line }));
}

/** With one blank, so that words and marks around it keep theirs. */
const icon =
  /(?: (?=:[\w-]+:(?:\{[^{}\n]{0,200}\})?(?:[*_]|$)))?:(?:material|fontawesome|octicons|simple|fa)-[\w-]+:(?:\{[^{}\n]{0,200}\})?[ \t]?/g;
const span = /\[([^[\]\n]{0,500})\](?:\(\))?\{([^{}\n]{1,2000})\}/g;
const attributes = /[ \t]?\{(:?)[ \t]*([^{}\n]{1,2000})\}/g;
const role = /\{(ref|numref|doc|kbd|sub|sup|abbr)\}`([^`\n]{1,300})`/g;
const vaultTag = /(?<=^|\s)#([\p{L}\p{N}_/-]*[\p{L}_/-][\p{L}\p{N}_/-]*)/gu;

function roleText(name: string, written: string): string | undefined {
  if (/^(?:kbd|sub|sup)$/.test(name)) return `<${name}>${written}</${name}>`;
  if (name === 'abbr') return written.replace(/\s*\(.*\)$/, '');
  const [, text, target] = /^(.*?)\s*<([^<>]+)>$/.exec(written) ?? [undefined, written, written];
  return target && `[${text}](${name === 'doc' ? target : `#${target}`})`;
}

/** Replaces in a line what is not code. */
function replaceProse(
  text: string,
  pattern: RegExp,
  replace: (whole: string, ...groups: (string | undefined)[]) => string,
): string {
  const code = Array.from(
    text.matchAll(/(?<!`)(`+)(?!`)[^`]+\1(?!`)/g),
    ({ 0: whole, index }) => [index, index + whole.length] as const,
  );
  let inCode = 0;
  return replaceParts(text, pattern, ({ 0: whole, 1: one, 2: two, index }) => {
    while ((code[inCode]?.[1] ?? Number.POSITIVE_INFINITY) <= index) inCode += 1;
    if (index >= (code[inCode]?.[0] ?? Number.POSITIVE_INFINITY)) return undefined;
    return { end: index + whole.length, text: replace(whole, one, two) };
  });
}

/** Comments of Obsidian. The lines stay. */
function withoutPercents(text: string): string {
  const parts = text.split('%%');
  // Every second part is between two marks; the last mark may have no end.
  return parts
    .map((part, at) => {
      if (at % 2 === 0) return part;
      return at === parts.length - 1 ? `%%${part}` : part.replace(/[^\n]/g, '');
    })
    .join('');
}

/** A line with links in place of `[[name]]`, and pictures in place of `![[picture.png]]`. */
function withPlainWikilinks(text: string, dialect: Dialect, line: number): string {
  const { tree, path } = dialect;
  const code = text.replace(/(?<!`)(`+)(?!`)[^`]+\1(?!`)/g, (whole) => '\0'.repeat(whole.length));
  const plain = ({ 0: whole, 1: bang, 2: first = '', 3: second }: RegExpExecArray): string => {
    const [name = '', ...fragments] = first.trim().replace(/\\$/, '').split('#');
    const own = name === '' ? path : tree.tryNamed(name, path);
    // GitHub's wikis have the text first.
    const swapped =
      own === undefined && second !== undefined ? tree.tryNamed(second.trim(), path) : undefined;
    const target = own ?? swapped;
    const shown = swapped !== undefined ? first : second;
    const fragment = fragments.at(-1)?.replace(/^\^/, '');
    if (target === undefined) {
      if (!tree.isVault) return whole;
      dialect.note('wikilink', whole, line);
      dialect.unnamed.add(name);
      return bang ? '' : labelOf(first, second);
    }
    if (bang && /\.(?:png|jpe?g|gif|webp|svg|avif|bmp)$/i.test(target)) {
      const alt = second !== undefined && !/^\d+(?:x\d+)?$/.test(second.trim()) ? second : '';
      return `![${alt}](${addressOf(target)})`;
    }
    const place = fragment === undefined ? '' : `#${encodeURIComponent(slug(fragment.trim()))}`;
    return `[${labelOf(first, shown)}](${name === '' ? place : addressOf(target, place)})`;
  };
  return replaceParts(
    text,
    wikilink,
    (found) => ({ end: found.index + found[0].length, text: plain(found) }),
    code,
  );
}

const wikilink = /(!?)\[\[([^[\]\n|\0]{1,300})(?:\|([^[\]\n\0]{0,300}))?\]\](?!\()/g;

function labelOf(target: string, text: string | undefined): string {
  if (text !== undefined && text.trim() !== '') return text.trim();
  const parts = target
    .trim()
    .split('#')
    .map((part) => part.replace(/^\^/, '').trim());
  return parts.filter(Boolean).join(' > ');
}

function addressOf(path: string, fragment = ''): string {
  return `/${path
    .split('/')
    .map((part) => encodeURIComponent(part).replace(/[()]/g, (sign) => `%${sign.charCodeAt(0).toString(16)}`))
    .join('/')}${fragment}`;
}
