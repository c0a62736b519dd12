import { dirname, join } from 'node:path/posix';
import { isRecord } from '../../protocol/base/json.ts';
import { messageOf } from '../../protocol/base/text.ts';
import { parseYamlMap } from '../../protocol/base/yaml.ts';
import type { ContentWarning, ListedFolder, ListedPage, ListedPlace } from './document.ts';
import { tryDecode } from './links.ts';
import { markdownLines } from './markdownLines.ts';
import { documentEnding } from './slug.ts';

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
  ...['SUMMARY.md', 'mkdocs.yml', 'mkdocs.yaml', '_quarto.yml', '_toc.yml', '_meta.json', '.pages'],
  ...['_category_.json', '_category_.yml', '_category_.yaml'],
]);

/** In UTF-16 units of a list; entries of all of them; lists within lists. */
const maxLength = 1_000_000;
const maxEntries = 20_000;
const maxDepth = 20;

/** Where the pages are that no list names. What a list has after `...` follows them. */
export const restPlace = maxEntries + 1;

interface Entry extends ListedPlace {
  readonly path: string;
}

/**
 * Reads the lists of a folder by their paths: of two that name a document, the one nearest to it counts.
 * @param trees lists in documents, by their paths
 */
export function readNavigation(
  lists: Iterable<readonly [path: string, text: string]>,
  trees: Iterable<readonly [path: string, pages: readonly ListedPage[]]> = [],
): Navigation {
  const pages = new Map<string, ListedPlace>();
  const folders = new Map<string, ListedFolder>();
  const categories: [folder: string, says: ListedFolder][] = [];
  const warnings: ContentWarning[] = [];
  const add = ({ base, entries }: List) => {
    const seen = new Set<string>();
    for (const { path, ...place } of entries.slice(0, maxEntries)) {
      if (path.startsWith('..') || seen.has(path)) continue;
      seen.add(path);
      pages.set(path, place);
      folders.set(path, place);
      for (let at = parentOf(path); at !== base && at !== '' && !seen.has(at); at = parentOf(at)) {
        seen.add(at);
        folders.set(at, { place: place.place ?? 0 });
      }
    }
  };
  const outerFirst = [...lists, ...trees].sort(([one], [other]) => depthOf(one) - depthOf(other));
  for (const [path, list] of outerFirst) {
    const folder = parentOf(path);
    const name = path.slice(folder === '' ? 0 : folder.length + 1);
    try {
      if (typeof list !== 'string') add({ base: folder, entries: numbered(list, folder) });
      else if (list.length > maxLength)
        throw new Error(`The list has more than ${maxLength / 1_000_000} MB.`);
      else if (name.startsWith('_category_')) categories.push([folder, readCategory(list)]);
      else add(readList(name, folder, list));
      if (name !== '.pages' || typeof list !== 'string') continue;
      // The title of a folder, as MkDocs' awesome pages have it.
      const { title } = parseYamlMap(list, 'The list');
      categories.push([folder, typeof title === 'string' ? { label: title } : {}]);
    } catch (error) {
      const message = `The list gives no order: ${messageOf(error).split('\n')[0]}`;
      warnings.push({ path, kind: 'nav', line: 1, message });
    }
  }
  for (const [folder, says] of categories) folders.set(folder, { ...folders.get(folder), ...says });
  return { pages, folders, warnings };
}

/** A list, whose paths count from the folder `base`. */
type List = { readonly base: string; readonly entries: readonly Entry[] };

function parentOf(path: string): string {
  return dirname(path) === '.' ? '' : dirname(path);
}

function depthOf(path: string): number {
  return path.split('/').length;
}

/** The pages that a list names, in its order, without their endings. */
export function pagesIn(path: string, text: string): readonly string[] {
  if (text.length > maxLength) return [];
  const entries = numbered(summaryLinks(text), parentOf(path)).slice(0, maxEntries);
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

function readList(name: string, folder: string, text: string): List {
  const from = (pages: Iterable<ListedPage>, base = folder) => ({
    base,
    entries: numbered([...pages], base),
  });
  if (name === 'SUMMARY.md') return from(summaryLinks(text));
  if (name === '_meta.json') return { base: folder, entries: metaEntries(JSON.parse(text), folder) };
  const values = parseYamlMap(name.startsWith('mkdocs') ? blockOf(text, 'nav') : text, 'The list');
  if (name.startsWith('mkdocs')) {
    const [, written] = /^docs_dir:[ \t]*["']?([^"'\n#]+)/m.exec(text) ?? [];
    return from(listed(values['nav']), join(folder, written?.trim() ?? 'docs'));
  }
  return from(listed(name === '.pages' ? (values['nav'] ?? values['arrange']) : [values]));
}

/** One key of a YAML file, so that tags of other parts are not met. */
function blockOf(text: string, key: string): string {
  const [, start, block = ''] = text.split(new RegExp(`^(${key}:.*\\n)`, 'm'));
  const end = block.search(/^[^\s#-]/m);
  return start === undefined ? '' : start + (end < 0 ? block : block.slice(0, end));
}

/** The pages that the lists of Sphinx and MyST in a document name: a path a line, or `Label <path>`. */
export function pagesInToctrees(body: string): readonly ListedPage[] {
  if (!body.includes('{toctree}')) return [];
  const inner: string[] = [];
  let marks: string | undefined;
  let lastFence: number | undefined;
  for (const { start, end, fence } of markdownLines(body.slice(0, maxLength))) {
    const line = body.slice(start, end);
    // One within other code is an example.
    const isOwn = fence === undefined || fence !== lastFence;
    lastFence = fence;
    const opened = isOwn ? /^[ \t]*(`{3,}|:{3,})\{toctree\}/.exec(line)?.[1] : undefined;
    if (opened !== undefined) marks = opened;
    else if (marks !== undefined && line.trimStart().startsWith(marks)) marks = undefined;
    else if (marks !== undefined) inner.push(line.trim());
  }
  return inner.flatMap((line): ListedPage[] => {
    const [, label, path = line] = /^(.*?)[ \t]*<([^<>]+)>$/.exec(line) ?? [];
    return path === '' || path === 'self' || /^[:-]|\*/.test(path) ? [] : [[path, label]];
  });
}

function summaryLinks(text: string): readonly ListedPage[] {
  const link = /^[ \t]*(?:[-*+][ \t]+)?\[((?:[^[\]\\]|\\.|\[[^\]]*\])*)\]\(<?([^()<>]*)>?\)/gm;
  return Array.from(
    text.matchAll(link),
    ([, label = '', href = '']) => [href, label.replace(/\\(.)/g, '$1').replace(/[*`]/g, '')] as const,
  );
}

/** The pages in the lists of MkDocs, Quarto and Jupyter Book, in reading order. */
function* listed(value: unknown, depth = 0, label?: string): Generator<ListedPage> {
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

const structure = new Set('chapters contents sections parts part book website sidebar appendices'.split(' '));
const words = new Set(
  'file href root title text section caption format url id style author date type'.split(' '),
);

function numbered(pages: readonly ListedPage[], folder: string): readonly Entry[] {
  const rest = pages.findIndex(([href]) => /^\.{3}(?:\s*\||$)/.test(href));
  return pages.flatMap(([href, label], at) => {
    const path = tryDecode(href.replace(/[?#].*$/, '')) ?? '';
    if (path === '' || at === rest || /^[a-z]+:/i.test(path)) return [];
    return [
      {
        path: join(path.startsWith('/') ? '' : folder, path.replace(/^\//, ''))
          .replace(/\/$/, '')
          .replace(documentEnding, ''),
        place: (at < rest || rest < 0 ? 0 : restPlace) + at + 1,
        ...(label ? { label } : {}),
      },
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
