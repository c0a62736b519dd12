import { Ends, type Replacement, replaceParts } from '../markdownLines.ts';
import type { Dialect } from './dialect.ts';
import { closingMark, openingMark } from './kinds.ts';
import { isAlone, type TemplateTag, tryKnownTag, tryValue } from './knownTags.ts';

/**
 * A text without the tags of templates and components: shortcodes of Hugo, Liquid, JSX and its expressions. What has a
 * meaning in Markdown gets it; of the others, the text between them stays. Each line keeps its number. One pass: what
 * was searched for an end is not searched again.
 */
export function withoutTags(text: string, dialect: Dialect, lineOf: (line: number) => number): string {
  if (!/\{[{%/]|<\/?[A-Z]/.test(text) && !dialect.isMdx) return text;
  return new TagReader(text, dialect, lineOf).read();
}

class TagReader {
  readonly #prose: string;
  readonly #ends: Ends;
  readonly #fileLine: (line: number) => number;
  #line = 1;
  #vain = 0;
  #lineAt = 0;

  constructor(
    private readonly text: string,
    private readonly dialect: Dialect,
    lineOf: (line: number) => number,
  ) {
    this.#prose = dialect.proseOf(text);
    this.#ends = new Ends(this.#prose);
    this.#fileLine = lineOf;
  }

  read(): string {
    const starts = this.dialect.isMdx ? mdxStarts : this.dialect.isVerbatim ? jsxStarts : tagStarts;
    const replacementAt = ({ 0: start, index }: RegExpExecArray) => {
      const replacement = this.#replacementOf(start, index);
      if (replacement === undefined) return undefined;
      const { end, text } = replacement;
      const lost = newlines(this.text.slice(index, end)) - newlines(text);
      return { end, text: text + '\n'.repeat(Math.max(0, lost)) };
    };
    return replaceParts(this.text, starts, replacementAt, this.#prose);
  }

  #lineOf(at: number): number {
    this.#line += newlines(this.text.slice(this.#lineAt, at));
    this.#lineAt = at;
    return this.#fileLine(this.#line);
  }

  #replacementOf(start: string, at: number): Replacement | undefined {
    if (this.#vain > maxVain) return undefined;
    if (start.startsWith('$')) return undefined;
    if (start === '{/*') return this.#comment(at);
    if (start.startsWith('<')) return this.#component(at);
    if (start === '{{<' || start === '{{%') return this.#shortcode(at, start[2] === '<' ? '>' : '%');
    if (start === '{%') return this.#liquid(at);
    return start === '{{' && !this.dialect.isMdx ? this.#output(at) : this.#expression(at);
  }

  /** So that tags without an end cost no more than a part of the text. */
  #tried(end: number | undefined, cost: number): number | undefined {
    if (end === undefined) this.#vain += cost;
    return end;
  }

  #lineBefore(at: number): string {
    return /[^\n]*$/.exec(this.text.slice(Math.max(0, at - maxBefore), at))?.[0] ?? '';
  }

  /** In a heading it may be an id. */
  #comment(at: number): Replacement | undefined {
    const line = this.#lineBefore(at);
    const end = this.#ends.after('\\*/\\}', at);
    const isId =
      /^\s*#{1,6}\s/.test(line) &&
      /^\{\/\*\s*#?[\w.:-]+\s*\*\/\}\s*(?:\n|$)/.test(this.text.slice(at, at + 300));
    return end === undefined || isId ? undefined : { end, text: '' };
  }

  #shortcode(at: number, close: string): Replacement | undefined {
    // An escaped one stands for itself.
    if (this.text.startsWith('/*', at + 3)) return undefined;
    const end = this.#closed(`${close}\\}\\}`, at);
    if (end === undefined) return undefined;
    const [, slash, name = '', rest = ''] =
      /^\s*(\/?)\s*([\w./-]*)([\s\S]*)$/.exec(this.text.slice(at + 3, end - 3)) ?? [];
    const isClosed = /\/\s*$/.test(rest);
    return this.#tag({ form: 'shortcode', name, rest, isEnd: slash === '/', isClosed }, at, end);
  }

  #liquid(at: number): Replacement | undefined {
    const end = this.#closed('%\\}', at);
    if (end === undefined) return undefined;
    const [, name = '', rest = ''] =
      /^-?\s*([\w-]*)([\s\S]*?)-?$/.exec(this.text.slice(at + 2, end - 2)) ?? [];
    if (name === 'raw') {
      const stop = this.#closed('\\{%-?\\s*endraw\\s*-?%\\}', end);
      const from = this.text.lastIndexOf('{%', (stop ?? 0) - 1);
      return stop === undefined ? undefined : { end: stop, text: this.text.slice(end, from) };
    }
    const isEnd = name.startsWith('end') && name !== 'end';
    const own = isEnd ? name.slice(3) : name;
    return this.#tag({ form: 'liquid', name: own, rest, isEnd, isClosed: false }, at, end);
  }

  #output(at: number): Replacement | undefined {
    const end = this.#closed('\\}\\}', at);
    if (end === undefined || end - at > maxLength) return undefined;
    const value = tryValue(this.text.slice(at + 2, end - 2), this.dialect);
    if (value !== undefined) return { end, text: value };
    if (!this.dialect.tree.isJekyll) return undefined;
    this.dialect.note('liquid', this.text.slice(at, end), this.#lineOf(at));
    return { end, text: '' };
  }

  #expression(at: number): Replacement | undefined {
    if (!this.dialect.isMdx || this.text[at - 1] === '\\' || this.text[at + 1] === '#') return undefined;
    const end = this.#tried(bracesEnd(this.text, at, maxLength), maxLength);
    if (end === undefined) return undefined;
    const inner = this.text.slice(at + 1, end - 1);
    const value =
      tryLiteral(inner) ?? tryValue(inner, this.dialect) ?? this.dialect.pictures.get(inner.trim());
    if (value === undefined && inner.trim() !== '')
      this.dialect.note('expression', `{${inner}}`, this.#lineOf(at));
    const isAttribute = this.text[at - 1] === '=';
    return { end, text: isAttribute ? `"${value?.replaceAll('"', '&quot;') ?? ''}"` : (value ?? '') };
  }

  #component(at: number): Replacement | undefined {
    tagName.lastIndex = at;
    const [opening, slash, name = ''] = tagName.exec(this.text) ?? [];
    // Right behind a word, it is the parameter of a type, such as `Map<Key>`.
    const before = this.text[at - 1] ?? '';
    if (opening === undefined || (slash === '' ? /[\w`\\]/ : /[`\\]/).test(before)) return undefined;
    const end = this.#tried(tagEnd(this.text, at + opening.length), maxLength);
    if (end === undefined) return undefined;
    const rest = this.text.slice(at + opening.length, end - 1);
    const isClosed = rest.endsWith('/');
    return this.#tag({ form: 'component', name, rest, isEnd: slash === '/', isClosed }, at, end);
  }

  #tag(tag: TemplateTag, at: number, end: number): Replacement | undefined {
    if (tag.name === 'Badge' && /^\s*#/.test(this.#lineBefore(at))) return { end, text: '' };
    const text = tryKnownTag(tag, this.dialect, () => this.#textBefore(tag, end));
    if (text !== undefined) return typeof text === 'string' ? { end, text: this.#indented(text, at) } : text;
    const isBlock = tag.form === 'component' && isAlone(this.text, at, end);
    if (tag.isEnd) return { end, text: isBlock ? closingMark(tag.name) : '' };
    const kind = tag.form;
    this.dialect.note(kind, tag.name || this.text.slice(at, end), this.#lineOf(at));
    const title = tag.form === 'component' ? /\stitle\s*=\s*(?:"([^"]*)"|'([^']*)')/.exec(tag.rest) : null;
    const shown = title?.[1] ?? title?.[2] ?? '';
    if (!isBlock || tag.isClosed) return { end, text: shown };
    return { end, text: shown + openingMark({ kind: 'content', name: tag.name, label: '' }) };
  }

  /** In an item of a list, every line is in it. */
  #indented(text: string, at: number): string {
    const [indent = ''] = /^[ \t]+$/.exec(this.#lineBefore(at)) ?? [];
    return indent === '' ? text : text.replace(/\n(?=[^\n])/g, `\n${indent}`);
  }

  /** What is between a tag and its end, which are both left out then. */
  #textBefore({ form, name }: TemplateTag, from: number): Replacement | undefined {
    const [sign, close] = {
      component: ['</', `</${name}\\s*>`],
      liquid: ['{%', `\\{%-?\\s*end${name}\\s*-?%\\}`],
      shortcode: ['{{', `\\{\\{[<%]\\s*/\\s*${name}\\s*[>%]\\}\\}`],
    }[form] as [string, string];
    const end = this.#ends.after(close, from);
    return end === undefined
      ? undefined
      : { end, text: this.text.slice(from, this.text.lastIndexOf(sign, end - 1)) };
  }

  /** The end of a tag, which may have the sign of its end in quotes. */
  #closed(close: string, at: number): number | undefined {
    let end = this.#ends.after(close, at);
    for (let tries = 0; end !== undefined && tries < 5; tries += 1) {
      if ((this.text.slice(at, end).split('"').length - 1) % 2 === 0) return end;
      end = this.#ends.after(close, end);
    }
    return end;
  }
}

const maxLength = 2_000;
/** Of a line, before a tag. */
const maxBefore = 200;
/** Characters that are searched in vain, in a text. */
const maxVain = 5_000_000;
const tagStarts = /\{\{[<%]?|\{%|\{\/\*|<\/?[A-Z]/g;
const jsxStarts = /\{\/\*|<\/?[A-Z]/g;
/** The braces of a formula are its own. */
const mdxStarts = /\$\$[^$]*\$\$|\$[^$\n]*(?:\\[A-Za-z]|[_^]\{)[^$\n]*\$|\{\{[<%]|\{\/\*|\{(?!%)|<\/?[A-Z]/g;
const tagName = /<(\/?)([A-Z][\w.-]*)(?=[\s/>])/y;

function newlines(text: string): number {
  return text.split('\n').length - 1;
}

/** The text of a literal, also of one that only names a file. */
function tryLiteral(expression: string): string | undefined {
  const [, named] = /^\s*(?:require|useBaseUrl)\(([^()]*)\)(?:\.default)?\s*$/.exec(expression) ?? [];
  const found = /^\s*(?:"((?:[^"\\\n]|\\.)*)"|'((?:[^'\\\n]|\\.)*)'|`([^`$]*)`)\s*$/.exec(
    named ?? expression,
  );
  return found ? (found[1] ?? found[2] ?? found[3])?.replace(/\\(["'\\])/g, '$1') : undefined;
}

/** After the brace that matches the one at a place. Text in quotes has none. */
function bracesEnd(text: string, from: number, longest: number): number | undefined {
  let depth = 0;
  let quote = '';
  const last = Math.min(text.length, from + longest);
  for (let at = from; at < last; at += 1) {
    const sign = text[at] ?? '';
    if (quote !== '' && sign === '\\') at += 1;
    else if (quote !== '') quote = sign === quote || (sign === '\n' && quote !== '`') ? '' : quote;
    else if (depth > 0 && /["'`]/.test(sign)) quote = sign;
    else if (sign === '{') depth += 1;
    else if (sign === '}' && --depth === 0) return at + 1;
  }
  return undefined;
}

/** After the `>` of a tag whose name ends before a place. */
function tagEnd(text: string, from: number): number | undefined {
  const last = Math.min(text.length, from + 5_000);
  for (let at = from; at < last; at += 1) {
    const sign = text[at] ?? '';
    if (sign === '>') return at + 1;
    if (sign === '<') return undefined;
    if (sign === '"' || sign === "'") {
      const end = text.indexOf(sign, at + 1);
      if (end < 0 || end >= last) return undefined;
      at = end;
    }
    if (sign === '{') {
      const end = bracesEnd(text, at, maxLength);
      if (end === undefined) return undefined;
      at = end - 1;
    }
  }
  return undefined;
}
