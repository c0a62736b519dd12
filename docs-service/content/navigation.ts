import { dirname, join } from 'node:path/posix';
import { messageOf } from '../../protocol/base/errorText.ts';
import { isRecord } from '../../protocol/base/json.ts';
import { parseYamlMap } from '../../protocol/base/yamlMap.ts';
import { documentEnding } from './contentFolder.ts';
import type { ContentWarning } from './document.ts';
import { tryDecode } from './links.ts';

/** What a list of another program says about a document. */
export interface ListedPlace {
  /** Its place in the list, from 1. */
  readonly place?: number;
  readonly label?: string;
  readonly hidden?: boolean;
}

/** What a file such as `_category_.json` says about its folder. */
export interface ListedFolder {
  readonly label?: string;
  readonly order?: number;
}

export interface Navigation {
  /** By the paths of documents without their endings. */
  readonly pages: ReadonlyMap<string, ListedPlace>;
  /** By the paths of folders, without a final slash. */
  readonly folders: ReadonlyMap<string, ListedFolder>;
  /** Of lists that give no order, because they cannot be read. */
  readonly warnings: readonly ContentWarning[];
}

/** The names of the files that have an order. Programs such as `sidebars.js` are never run. */
export const listNames: ReadonlySet<string> = new Set([
  ...['SUMMARY.md', 'mkdocs.yml', 'mkdocs.yaml', '_quarto.yml', '_toc.yml', '_meta.json'],
  ...['_category_.json', '_category_.yml', '_category_.yaml'],
]);

/** In UTF-16 units of a list; entries of all of them; lists within lists. */
const maxLength = 1_000_000;
const maxEntries = 20_000;
const maxDepth = 20;

interface Entry extends ListedPlace {
  readonly path: string;
}

/** Reads the lists of a folder by their paths: of two that name a document, the one nearest to it counts. */
export function readNavigation(lists: Iterable<readonly [path: string, text: string]>): Navigation {
  const pages = new Map<string, ListedPlace>();
  const folders = new Map<string, ListedFolder>();
  const warnings: ContentWarning[] = [];
  const outerFirst = [...lists].sort(([one], [other]) => one.split('/').length - other.split('/').length);
  for (const [path, text] of outerFirst) {
    const folder = dirname(path) === '.' ? '' : dirname(path);
    const name = path.slice(folder === '' ? 0 : folder.length + 1);
    try {
      if (text.length > maxLength) throw new Error(`The list has more than ${maxLength / 1_000_000} MB.`);
      if (name.startsWith('_category_')) folders.set(folder, readCategory(text));
      else
        for (const { path: page, ...place } of entriesOf(name, folder, text).slice(0, maxEntries))
          if (!page.startsWith('..')) pages.set(page, place);
    } catch (error) {
      const message = `The list gives no order: ${messageOf(error).split('\n')[0]}`;
      warnings.push({ path, kind: 'nav', line: 1, message });
    }
  }
  return { pages, folders, warnings };
}

/** The pages that a list names, in its order, without their endings. */
export function pagesIn(path: string, text: string): readonly string[] {
  const folder = dirname(path) === '.' ? '' : dirname(path);
  if (text.length > maxLength) return [];
  const entries = numbered(summaryLinks(text), folder).slice(0, maxEntries);
  return [...new Set(entries.map((one) => one.path))].filter((one) => !one.startsWith('..'));
}

function readCategory(text: string): ListedFolder {
  const { label, position } = parseYamlMap(text, 'The list');
  const order = Number(position);
  return {
    ...(typeof label === 'string' ? { label } : {}),
    ...(position !== undefined && Number.isFinite(order) ? { order } : {}),
  };
}

function entriesOf(name: string, folder: string, text: string): readonly Entry[] {
  if (name === 'SUMMARY.md') return numbered(summaryLinks(text), folder);
  if (name === '_meta.json') return metaEntries(JSON.parse(text), folder);
  const values = parseYamlMap(name.startsWith('mkdocs') ? blockOf(text, 'nav') : text, 'The list');
  if (name.startsWith('mkdocs')) {
    const [, written] = /^docs_dir:[ \t]*["']?([^"'\n#]+)/m.exec(text) ?? [];
    return numbered([...listed(values['nav'])], join(folder, written?.trim() ?? 'docs'));
  }
  return numbered([...listed([values])], folder);
}

/** One key of a YAML file, so that tags of other parts are not met. */
function blockOf(text: string, key: string): string {
  const [, start, block = ''] = text.split(new RegExp(`^(${key}:.*\\n)`, 'm'));
  const end = block.search(/^[^\s#-]/m);
  return start === undefined ? '' : start + (end < 0 ? block : block.slice(0, end));
}

/** A page in a list, and how it is called there. */
type Page = readonly [href: string, label: string | undefined];

function summaryLinks(text: string): readonly Page[] {
  const link = /^[ \t]*(?:[-*+][ \t]+)?\[((?:[^[\]\\]|\\.|\[[^\]]*\])*)\]\(<?([^()<>]*)>?\)/gm;
  return Array.from(
    text.matchAll(link),
    ([, label = '', href = '']) => [href, label.replace(/\\(.)/g, '$1').replace(/[*`]/g, '')] as const,
  );
}

/** The pages in the lists of MkDocs, Quarto and Jupyter Book, in reading order. */
function* listed(value: unknown, depth = 0, label?: string): Generator<Page> {
  if (depth > maxDepth) return;
  if (typeof value === 'string') yield [value, label];
  if (Array.isArray(value)) for (const one of value) yield* listed(one, depth + 1);
  if (!isRecord(value)) return;
  const file = [value['file'], value['href'], value['root']].find((one) => typeof one === 'string');
  const title = [value['title'], value['text']].find((one) => typeof one === 'string');
  if (file !== undefined) yield [file, title];
  for (const [key, inner] of Object.entries(value)) {
    if (structure.has(key)) yield* listed(inner, depth + 1);
    else if (!words.has(key) && (Array.isArray(inner) || typeof inner === 'string'))
      yield* listed(inner, depth + 1, key);
  }
}

const structure = new Set([
  'chapters',
  'contents',
  'sections',
  'parts',
  'part',
  'book',
  'website',
  'sidebar',
  'appendices',
]);
const words = new Set([
  'file',
  'href',
  'root',
  'title',
  'text',
  'section',
  'caption',
  'format',
  'url',
  'id',
  'style',
  'author',
  'date',
  'type',
]);

function numbered(pages: readonly Page[], folder: string): readonly Entry[] {
  return pages.flatMap(([href, label], at) => {
    const path = tryDecode(href.replace(/[?#].*$/, '')) ?? '';
    if (path === '' || /^[a-z]+:/i.test(path)) return [];
    return [
      { path: join(folder, path).replace(documentEnding, ''), place: at + 1, ...(label ? { label } : {}) },
    ];
  });
}

function metaEntries(values: unknown, folder: string): readonly Entry[] {
  return Object.entries(isRecord(values) ? values : {}).map(([key, value], at) => {
    const label = isRecord(value) ? value['title'] : value;
    const isHidden = isRecord(value) && value['display'] === 'hidden';
    return {
      path: join(folder, key),
      place: at + 1,
      ...(typeof label === 'string' ? { label } : {}),
      ...(isHidden ? { hidden: true } : {}),
    };
  });
}
