import type { Replacement } from '../markdownLines.ts';
import { longestRun } from './codeBlocks.ts';
import type { Dialect } from './dialect.ts';
import { closingMark, type MarkedContainer, openingMark, tryContainer } from './kinds.ts';

/** A tag of a template or a component. */
export interface TemplateTag {
  readonly form: 'shortcode' | 'liquid' | 'component';
  readonly name: string;
  /** What is after the name. */
  readonly rest: string;
  /** It ends what an earlier one has opened. */
  readonly isEnd: boolean;
  /** It is its own end. */
  readonly isClosed: boolean;
}

/**
 * What stands in place of a tag whose meaning is known; undefined for any other.
 * @param inner finds its end and what is before that
 */
export function tryKnownTag(
  tag: TemplateTag,
  dialect: Dialect,
  inner: () => Replacement | undefined,
): string | Replacement | undefined {
  const { form, name, rest, isEnd, isClosed } = tag;
  const given = argumentsOf(rest);
  const container = tryTagContainer(tag, given, dialect);
  if (container !== undefined) {
    if (isEnd) return closingMark(name);
    return openingMark(container) + (isClosed ? closingMark(name) : '');
  }
  const items = /^tabs$/i.test(name) ? given.get('items') : undefined;
  if (items !== undefined) dialect.tabLabels = itemsIn(rest, items);
  if (silent[form].test(name)) return '';
  if (name === 'Card') {
    if (isEnd) return closingMark(name);
    return linked(given) + (isClosed ? '' : openingMark({ kind: 'content', name, label: '' }));
  }
  if (isEnd) return known[form][name] === undefined ? undefined : '';
  if (name === 'comment') {
    const hidden = inner();
    return hidden && { ...hidden, text: '' };
  }
  return known[form][name]?.(given, dialect, inner);
}

/** `"a,b"` of Hugo's themes, and `{['a', 'b']}` of those for React. */
function itemsIn(rest: string, first: string): string[] {
  const [, list] = /\bitems=\{\s*\[([^\]]*)\]/.exec(rest) ?? [];
  const items = list?.match(/"[^"]*"|'[^']*'/g)?.map((item) => item.slice(1, -1)) ?? first.split(',');
  return items.map((item) => item.trim());
}

function tryTagContainer(
  { form, name, rest, isEnd }: TemplateTag,
  given: Arguments,
  dialect: Dialect,
): MarkedContainer | undefined {
  const first = given.get('0');
  const title = given.get('title', 'header', 'summary', 'label', 'name');
  if (/^(?:aside|admonition|callouts?|hint|notice|alert)$/i.test(name)) {
    const word = given.get('type', 'style', 'kind', 'color', 'variant') ?? first ?? 'note';
    return { kind: 'alert', name, word, label: title || (first && given.get('1')) || '' };
  }
  if (ordinary[form].test(name)) return undefined;
  const isTab = /^tabs-?item$|^Tabs?\.(?:Tab|Item)$/i.test(name);
  const found = tryContainer(isTab ? 'tab' : name, (form === 'component' ? title : title || first) ?? '');
  if (found === undefined || found.kind === 'content') return undefined;
  if (found.kind === 'tab') {
    const own = given.get('label', 'title', 'name', 'header', '0', 'value');
    return { ...found, name, label: own ?? (isEnd ? undefined : dialect.tabLabels.shift()) ?? 'Tab' };
  }
  const isOpen = found.kind === 'details' && /\b(?:open|defaultOpen)\b/.test(rest);
  return { ...found, name, fold: isOpen ? '+' : '' };
}

/** Names that are mostly something else there than kinds of alerts. */
const ordinary = {
  shortcode: /^highlight$/,
  liquid: /^(?!(?:details|note|tip|warning|danger|info|success|tab)$)/,
  component:
    /^(?:Example|Summary|Quote|Cite|Help|Check|Done|New|Error|Success|Question|Abstract|Topic|Highlight|FAQ)$/,
} as const;

/** Whether a tag has its line for itself. */
export function isAlone(text: string, at: number, end: number): boolean {
  return (
    /(?:^|\n)[ \t]*$/.test(text.slice(Math.max(0, at - 200), at)) &&
    /^[ \t]*(?:\n|$)/.test(text.slice(end, end + 200))
  );
}

/** Tags around other tags, and what only looks like something. */
const silent = {
  shortcode: /^(?:tabs|tabpane|toc|columns?|steps|\/?content-ref)$/,
  liquid: /^(?:tabs|columns?|content-ref|stepper|step|toc|else|elsif|when|assign|capture|seo|feed_meta)$/,
  component:
    /^(?:Tabs|TabGroup|CodeGroup|Steps?|CardGrid|Cards|CardGroup|AccordionGroup|Columns?|Frame|FileTree|Fragment|Icon|Head|Template|Content|ClientOnly)$/,
} as const;

type TagMeaning = (
  given: Arguments,
  dialect: Dialect,
  inner: () => Replacement | undefined,
) => string | Replacement | undefined;

const reference: TagMeaning = (given) => addressed(given.get('0', 'path') ?? '');

function addressed(path: string): string {
  return /[\s()]/.test(path) ? `<${path.replace(/[<>\n]/g, '')}>` : path;
}

function picture(given: Arguments, { pictures }: Dialect): string {
  const written = given.get('src', 'link', '0') ?? '';
  const source = pictures.get(written) ?? written;
  const caption = given.get('caption', 'title') ?? '';
  const shown = `![${(given.get('alt') ?? caption).replace(/[[\]]/g, '')}](${addressed(source)})`;
  return caption === ''
    ? shown
    : `<figure>\n\n${shown}\n\n<figcaption>${caption}</figcaption>\n\n</figure>\n\n`;
}

function linked(given: Arguments): string {
  const [title, text] = [given.get('title') ?? '', given.get('description') ?? ''];
  const href = given.get('href', 'link', 'to');
  const name = href === undefined ? `**${title}**` : `[${title}](${addressed(href)})`;
  return [title === '' ? '' : `${name}\n\n`, text === '' ? '' : `${text}\n\n`].join('');
}

function linkAround(given: Arguments, inner: () => Replacement | undefined): Replacement | undefined {
  const found = inner();
  const href = given.get('to', 'href');
  if (found === undefined || href === undefined) return undefined;
  return { ...found, text: `[${found.text.trim()}](${addressed(href)})` };
}

/** What is embedded there. */
function linkTo(address = ''): string {
  const name = /^https?:/.test(address) ? address : (address.split('/').at(-1) ?? '');
  return address === '' ? '' : `[${name.replace(/[[\]]/g, '')}](${addressed(address)})\n\n`;
}

/** Code between a tag and its end. */
const program: TagMeaning = (given, _dialect, inner) => {
  const found = inner();
  if (found === undefined) return undefined;
  const text = found.text.replace(/\{%-?\s*(?:end)?raw\s*-?%\}/g, '').replace(/[ \t]+$/, '');
  const marks = '`'.repeat(Math.max(3, longestRun([{ text }]) + 1));
  const language = given.get('lang', 'language', '0') ?? '';
  const opening = `${marks}${/^[\w+#.-]+$/.test(language) ? language : ''}${text.startsWith('\n') ? '' : '\n'}`;
  return { ...found, text: `${opening}${text}${text.endsWith('\n') ? '' : '\n'}${marks}` };
};

const known: Readonly<Record<TemplateTag['form'], Readonly<Record<string, TagMeaning>>>> = {
  shortcode: {
    ...{ ref: reference, relref: reference, figure: picture, card: linked },
    ...{ highlight: program, code: program, 'code-toggle': program, 'code-block': program },
  },
  liquid: {
    highlight: program,
    link: (given) => addressed(`/${given.get('0') ?? ''}`),
    post_url: (given) => addressed(`/_posts/${given.get('0') ?? ''}`),
    code: (given) => (given.get('title') ? `${given.get('title')}\n\n` : ''),
    figure: picture,
    embed: (given) => linkTo(given.get('url')),
    file: (given) => linkTo(given.get('src')),
  },
  component: {
    LinkCard: linked,
    LinkButton: (given, _dialect, inner) => linkAround(given, inner),
    Badge: (given) => given.get('text') ?? '',
    Image: picture,
    Code: (given) => {
      const title = given.get('title')?.replaceAll('"', "'");
      const info = `${given.get('lang') ?? ''}${title ? ` title="${title}"` : ''}`;
      return given.get('code') && `\n\n\`\`\`\`${info}\n${given.get('code')}\n\`\`\`\`\n\n`;
    },
    Link: (given, _dialect, inner) => linkAround(given, inner),
  },
};

/** The value of what stands in `{{ }}` or `{ }`, if it is about the document itself. */
export function tryValue(written: string, { title, tree }: Dialect): string | undefined {
  const text = written.trim();
  if (/^(?:page|\$?front_?matter)\.title$/i.test(text)) return title ?? '';
  if (/^site\.(?:baseurl|url)$/.test(text)) return '';
  const ofSite = tree.site?.get(/^site\.([\w-]+)$/.exec(text)?.[1] ?? '');
  if (ofSite !== undefined) return ofSite;
  const [, path] = /^["']([^"']*)["']\s*\|\s*(?:relative_url|absolute_url)$/.exec(text) ?? [];
  return path;
}

type Arguments = ReturnType<typeof argumentsOf>;

function argumentsOf(rest: string) {
  const found = new Map<string, string>();
  let place = 0;
  for (const [, name, ...values] of rest.slice(0, 5_000).matchAll(argument)) {
    const value = values.find((one) => one !== undefined) ?? '';
    found.set(name ?? String(place++), value.replace(/\s+/g, ' '));
  }
  return {
    /** The first of these that has a text; `0` is the first without a name. */
    get: (...names: readonly string[]) =>
      names.map((name) => found.get(name)).find((one) => one !== undefined),
  };
}

const argument =
  /(?:([\w:@.-]+)\s*=\s*(?:\{\s*)?)?(?:"([^"]*)"|'([^']*)'|`([^`]*)`|(\/?[^\s=,"'`{}/>]+(?:\/[^\s=,"'`{}/>]+)*))/g;
