import type { Line } from './dialect.ts';
import { type Container, tryAlertKind, tryContainer } from './kinds.ts';

export interface Opening extends Container {
  readonly form: 'colon' | 'slash' | 'fence' | 'indent' | 'tag';
  readonly name: string;
  /** How many marks it begins with: as many end it. */
  readonly size: number;
  readonly indent: number;
  /** The text after its name, where that is its first line. */
  readonly first?: string | undefined;
  readonly id?: string | undefined;
  /** Its name, if nobody knows what it means. */
  readonly unknown?: string;
  /** Options of MyST, such as `:class: warning`, may follow. */
  readonly isMyst?: boolean;
  /** Its class, and not its name, says what it is. */
  readonly isGeneric?: boolean;
  /** Its first heading is its title, as in Quarto. */
  readonly hasTitleInside?: boolean;
  /** Nothing in it is shown, but for `first`. */
  readonly isHidden?: boolean;
}

const maxLine = 1_000;

/**
 * Undefined if the line begins nothing.
 * @param isSlashClosed whether a `///` in this line has an end
 * @param item where the text of the list item around it begins
 */
export function tryOpening(text: string, isSlashClosed: boolean, item: number): Opening | undefined {
  const [, blank = '', sign] = /^([ \t]*)(:::|!!!|\?\?\?|===|\/\/\/|```\{|~~~\{|`{4,}\{)/.exec(text) ?? [];
  if (sign === undefined || text.length > maxLine) return undefined;
  const indent = blank.length;
  if (indent > item + 3) return undefined;
  if (sign === ':::') return tryColon(text.slice(indent), indent);
  if (sign === '///') return isSlashClosed ? trySlash(text.slice(indent), indent) : undefined;
  if (sign === '===' || sign === '!!!' || sign === '???') return tryIndented(text.slice(indent), indent);
  return tryDirectiveFence(text.slice(indent), indent);
}

function tryColon(text: string, indent: number): Opening | undefined {
  const [, colons = '', rest = ''] = /^(:{3,})[ \t]*(.*?)[ \t]*$/.exec(text) ?? [];
  if (rest === '') return undefined;
  const base = { form: 'colon', size: colons.length, indent } as const;
  // A part of a program that mkdocstrings would describe. Its options are indented.
  if (/^[A-Za-z_]\w*(?:\.\w+)+$/.test(rest))
    return {
      ...{ ...base, form: 'indent', kind: 'content', label: '', name: rest, unknown: rest },
      ...{ isHidden: true, first: `\`${rest}\`` },
    };
  const [, directive, argument = ''] = /^\{([\w:-]+)\}[ \t]*(.*)$/.exec(rest) ?? [];
  if (directive !== undefined) return { ...base, ...directiveOf(directive, argument) };
  const [, attributes = /^callout-[\w-]+/.exec(rest)?.[0].replace(/^/, '.')] =
    /^\{([^{}]*)\}/.exec(rest) ?? [];
  if (attributes !== undefined) return { ...base, ...divOf(attributes) };
  const [, name = '', bracketed, plain = ''] =
    /^([A-Za-z][\w-]*)(?:\[(.*?)\](?=\{|$|\s))?(.*)$/.exec(rest) ?? [];
  if (name === '') return undefined;
  const label = bracketed ?? plain.replace(/\{[^{}]*\}\s*$/, '').replace(/^["\s]+|["\s]+$/g, '');
  const [list = ''] = /\{[^{}]*\}\s*$/.exec(plain) ?? [];
  const fold = /\bopen\b/.test(list) ? '+' : '';
  const id = /#([\w.:-]+)/.exec(list)?.[1];
  const container = containerOf(name, label, fold);
  const isTitled = container.unknown !== undefined && label !== '';
  return { ...base, name, id, ...container, ...(isTitled ? { kind: 'tab', label } : {}) };
}

/** Pandoc's and Quarto's `::: {.callout-note title="T"}`. */
function divOf(attributes: string): Pick<Opening, 'kind' | 'name' | 'label'> & Partial<Opening> {
  const classes = Array.from(attributes.matchAll(/\.([\w-]+)/g), ([, name = '']) => name);
  const [, label = ''] = /\btitle\s*=\s*"([^"]*)"/.exec(attributes) ?? [];
  const id = /#([\w.:-]+)/.exec(attributes)?.[1];
  const word = classes
    .find((name) => name.startsWith('callout-') && tryAlertKind(name.slice(8)) !== undefined)
    ?.slice(8);
  if (word === undefined) return { kind: 'content', name: classes[0] ?? 'div', label: '', id };
  const [, collapse] = /\bcollapse\s*=\s*"?(true|false)/.exec(attributes) ?? [];
  const fold = collapse === undefined ? '' : collapse === 'true' ? '-' : '+';
  return { kind: 'alert', name: word, word, label, fold, hasTitleInside: label === '', id };
}

/** A directive of MyST, such as `{admonition} Title`. */
function directiveOf(name: string, argument: string): Omit<Opening, 'form' | 'size' | 'indent'> {
  const isGeneric = name === 'admonition';
  const container = containerOf(name, argument);
  if (isGeneric || container.kind === 'tab' || container.kind === 'details')
    return { ...container, name, isGeneric, isMyst: true };
  const text = /^(?:figure|image)$/.test(name) ? `![](${argument})` : argument;
  const isText = container.unknown === undefined && !/^(?:grid|raw|only)$/.test(name);
  return { ...container, name, label: '', isMyst: true, ...(isText ? { first: text } : {}) };
}

function containerOf(
  name: string,
  label: string,
  fold?: Container['fold'],
): Container & Pick<Opening, 'unknown'> {
  return tryContainer(name, label, fold) ?? { kind: 'content', label: '', unknown: name };
}

function trySlash(text: string, indent: number): Opening | undefined {
  const [, slashes = '', name = '', label = ''] =
    /^(\/{3,})[ \t]*([\w-]+)[ \t]*(?:\|[ \t]*(.*?))?[ \t]*$/.exec(text) ?? [];
  const container = tryContainer(name, label);
  if (container === undefined) return undefined;
  return {
    ...{ form: 'slash', size: slashes.length, indent, name, isGeneric: name === 'admonition' },
    ...container,
  };
}

/** Blocks of Python-Markdown, whose text is indented by four. */
function tryIndented(text: string, indent: number): Opening | undefined {
  const base = { form: 'indent', size: 0, indent } as const;
  const [, label] = /^===[!+]{0,2}[ \t]+"([^"]*)"[ \t]*$/.exec(text) ?? [];
  if (label !== undefined) return { ...base, kind: 'tab', name: 'tab', label };
  const [, sign = '', word = '', title = ''] =
    /^(!!!|\?\?\?\+?)[ \t]+([A-Za-z][\w-]*)(?:[ \t]+[\w-]+)*(?:[ \t]+"(.*)")?[ \t]*$/.exec(text) ?? [];
  if (word === '') return undefined;
  const fold = sign === '!!!' ? '' : sign === '???' ? '-' : '+';
  return { ...base, kind: 'alert', name: word, word, label: title, fold };
}

/** A fence of MyST whose content is Markdown. */
function tryDirectiveFence(text: string, indent: number): Opening | undefined {
  const [, marks = '', name = '', argument = ''] =
    /^(`{3,}|~{3,})\{([\w:-]+)\}[ \t]*(.*?)[ \t]*$/.exec(text) ?? [];
  const base = { form: 'fence', size: marks.length, indent } as const;
  if (/^(?:contents|toctree|tableofcontents)$/.test(name))
    return { ...base, kind: 'content', name, label: '', isHidden: true };
  return tryContainer(name, argument) && { ...base, ...directiveOf(name, argument) };
}

/** The label of a part within a group of tabs. */
export function tabIn(name: string, text: string): string | undefined {
  if (/^tabs?$|^code-tabs$/.test(name))
    return /^\s*(?:@tab(?::active)?|==)\s+([^=].*)$/.exec(text)?.[1]?.replace(/#\S+\s*$/, '');
  return name === 'panel-tabset' ? /^#{1,6}\s+(.*)$/.exec(text)?.[1] : undefined;
}

/** The lines of `///` that open a block which has an end. */
export function closedSlashes(lines: readonly Line[]): ReadonlySet<number> {
  const open: { readonly line: number; readonly size: number }[] = [];
  const sizes = new Map<number, number>();
  const count = (size: number, by: number) => sizes.set(size, (sizes.get(size) ?? 0) + by);
  const closed = new Set<number>();
  for (const { text, line } of lines) {
    const [, slashes, name] = /^[ \t]*(\/{3,})[ \t]*(\S*)/.exec(text) ?? [];
    if (slashes === undefined) continue;
    const size = slashes.length;
    if (name) {
      open.push({ line, size });
      count(size, 1);
    } else if (sizes.get(size)) {
      let last = open.pop();
      for (; last !== undefined && last.size !== size; last = open.pop()) count(last.size, -1);
      count(size, -1);
      if (last !== undefined) closed.add(last.line);
    }
  }
  return closed;
}
