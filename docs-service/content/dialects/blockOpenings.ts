import { type Container, isDetails, tryAlertKind, tryContainer } from './kinds.ts';

/** A line that begins a container. */
export interface Opening extends Container {
  readonly form: 'colon' | 'slash' | 'fence' | 'indent' | 'tag';
  readonly name: string;
  /** How many marks it begins with: as many end it. */
  readonly size: number;
  readonly indent: number;
  /** The text after its name, where that is its first line. */
  readonly first?: string;
  readonly id?: string;
  /** Its name, if nobody knows what it means. */
  readonly unknown?: string;
  /** Options of MyST, such as `:class: warning`, may follow. */
  readonly isMyst?: boolean;
  /** Its class, and not its name, says what it is. */
  readonly isGeneric?: boolean;
  /** Its first heading is its title, as in Quarto. */
  readonly hasTitleInside?: boolean;
  readonly isFoldedAlert?: boolean;
  /** Nothing of it is shown. */
  readonly isHidden?: boolean;
}

interface Around {
  /** Whether a `///` in this line has an end. */
  readonly isSlashClosed: boolean;
  /** Where the text of the list item around it begins. */
  readonly mayBeIndented: number;
}

/** A longer line begins no container. */
const maxLine = 1_000;

/** Undefined if the line begins nothing. */
export function tryOpening(text: string, { isSlashClosed, mayBeIndented }: Around): Opening | undefined {
  const [, blank = '', sign] = /^([ \t]*)(:::|!!!|\?\?\?|===|\/\/\/|```\{|~~~\{|`{4,}\{)/.exec(text) ?? [];
  if (sign === undefined || text.length > maxLine) return undefined;
  const indent = blank.length;
  if (indent > mayBeIndented + 3) return undefined;
  if (sign === ':::') return tryColon(text.slice(indent), indent);
  if (sign === '///') return isSlashClosed ? trySlash(text.slice(indent), indent) : undefined;
  if (sign === '===' || sign === '!!!' || sign === '???') return tryIndented(text.slice(indent), indent);
  return tryDirectiveFence(text.slice(indent), indent);
}

function tryColon(text: string, indent: number): Opening | undefined {
  const [, colons = '', rest = ''] = /^(:{3,})[ \t]*(.*?)[ \t]*$/.exec(text) ?? [];
  if (rest === '') return undefined;
  const base = { form: 'colon', size: colons.length, indent, fold: '' } as const;
  const [, directive, argument = ''] = /^\{([\w:-]+)\}[ \t]*(.*)$/.exec(rest) ?? [];
  if (directive !== undefined)
    return { ...directiveOf(directive, argument), ...base, fold: directiveFold(directive) };
  const [, attributes] = /^\{([^{}]*)\}/.exec(rest) ?? [];
  if (attributes !== undefined) return { ...base, ...divOf(attributes) };
  const [, name = '', more = ''] = /^([A-Za-z][\w-]*)(.*)$/.exec(rest) ?? [];
  if (name === '') return undefined;
  if (/^callout-/.test(name)) return { ...base, ...divOf(`.${name}`) };
  const [, bracketed, plain = ''] = /^(?:\[(.*?)\](?=\{|$|\s))?(.*)$/.exec(more) ?? [];
  const label = bracketed ?? plain.replace(/\{[^{}]*\}\s*$/, '').replace(/^["\s]+|["\s]+$/g, '');
  const fold = /\{[^{}]*\bopen\b[^{}]*\}\s*$/.test(more) ? '+' : '';
  const container = tryContainer(name, label, fold);
  if (container !== undefined) return { ...base, ...container, name };
  const isKnown = knownContents.test(name);
  return { ...base, kind: 'content', name, label: '', ...(isKnown ? {} : { unknown: name }) };
}

/** Containers that only arrange what is in them. */
const knownContents =
  /^(?:v-pre|raw|code-?group|code-?tabs|tabs|steps|columns?|cards?|grid|card|center|left|right|div|section|figure|only)$/i;

/** Pandoc's and Quarto's `::: {.callout-note title="T"}`. */
function divOf(attributes: string): Pick<Opening, 'kind' | 'name' | 'label'> & Partial<Opening> {
  const classes = Array.from(attributes.matchAll(/\.([\w-]+)/g), ([, name = '']) => name);
  const title = /\btitle\s*=\s*"([^"]*)"/.exec(attributes)?.[1] ?? '';
  const [, id] = /#([\w.:-]+)/.exec(attributes) ?? [];
  const identified = id === undefined ? {} : { id };
  const callout = classes.find(
    (name) => name.startsWith('callout-') && tryAlertKind(name.slice(8)) !== undefined,
  );
  if (callout === undefined) return { kind: 'content', name: classes[0] ?? 'div', label: '', ...identified };
  const [, collapse] = /\bcollapse\s*=\s*"?(true|false)/.exec(attributes) ?? [];
  const fold = collapse === undefined ? '' : collapse === 'true' ? '-' : '+';
  return {
    kind: 'alert',
    name: callout,
    word: callout.slice(8),
    label: title,
    fold,
    hasTitleInside: title === '',
    ...identified,
  };
}

/** A directive of MyST, such as `{admonition} Title`. */
function directiveOf(name: string, argument: string): Omit<Opening, 'form' | 'size' | 'indent'> {
  const isMyst = true;
  if (name === 'admonition')
    return { kind: 'alert', name, word: 'note', label: argument, isMyst, isGeneric: true };
  if (isDetails(name)) return { kind: 'details', name, label: argument, isMyst };
  if (tryAlertKind(name) !== undefined)
    return {
      kind: 'alert',
      name,
      word: name,
      label: '',
      isMyst,
      ...(argument === '' ? {} : { first: argument }),
    };
  if (/^tab-item$/.test(name)) return { kind: 'tab', name, label: argument, isMyst };
  const isKnown =
    /^(?:tab-set|grid|grid-item|grid-item-card|card|div|image|table|list-table|margin|sidebar|only|epigraph)$/.test(
      name,
    );
  const content = { kind: 'content', name, label: '', isMyst } as const;
  return isKnown
    ? { ...content, ...(argument === '' || name === 'grid' ? {} : { first: argument }) }
    : { ...content, unknown: name };
}

function directiveFold(name: string): '' | '-' {
  return name === 'dropdown' ? '-' : '';
}

function trySlash(text: string, indent: number): Opening | undefined {
  const [, slashes = '', name = '', label = ''] =
    /^(\/{3,})[ \t]*([\w-]+)[ \t]*(?:\|[ \t]*(.*?))?[ \t]*$/.exec(text) ?? [];
  const base = { form: 'slash', size: slashes.length, indent } as const;
  const container = tryContainer(name, label);
  if (container !== undefined)
    return { ...base, ...container, name, ...(name === 'admonition' ? { isGeneric: true } : {}) };
  if (name === 'tab') return { ...base, kind: 'tab', name, label };
  return /^(?:caption|figure-caption|html|define)$/.test(name)
    ? { ...base, kind: 'content', name, label: '' }
    : undefined;
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
  const isBlock = name === 'admonition' || tryAlertKind(name) !== undefined || isDetails(name);
  if (!isBlock && !/^(?:tab-set|tab-item|grid|card|figure|contents|toctree|tableofcontents)$/.test(name))
    return undefined;
  const base = { form: 'fence', size: marks.length, indent } as const;
  if (/^(?:contents|toctree|tableofcontents)$/.test(name))
    return { ...base, kind: 'content', name, label: '', isHidden: true };
  if (name === 'figure')
    return { ...base, kind: 'content', name, label: '', isMyst: true, first: `![](${argument})` };
  return { ...directiveOf(name, argument), ...base, fold: directiveFold(name) };
}
