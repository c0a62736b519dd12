import { readFileSync } from 'node:fs';
import { type DefaultTreeAdapterTypes, parse } from 'parse5';
import t from 'tap';
import { openContentFolder } from '../../docs-service/content/contentFolder.ts';
import { createHtml } from '../../docs-service/formats/markdown/htmlFormat.ts';
import { ReferencedFiles } from '../../docs-service/formats/referencedFiles.ts';
import { documentsIn, readFolders } from '../../docs-service/library/folders.ts';
import { LibraryIndexer } from '../../docs-service/library/libraryIndexer.ts';
import { createPublicLibrary } from '../../docs-service/library/publicLibrary.ts';
import { createSlugRecords, openTestLibrary } from '../support/docsLibrary.ts';
import { pictures } from '../support/pictures.ts';
import { temporaryFolder } from '../support/temporaryFolder.ts';

/** A small tree of another program, and what a reader must get of one of its files. Only what is named is compared. */
interface Case {
  readonly name: string;
  readonly files: Readonly<Record<string, string>>;
  readonly flags?: readonly string[];
  readonly now?: string;
  readonly read: string;
  readonly expect: Readonly<Record<string, unknown>>;
}

const cases: readonly Case[] = [
  ...JSON.parse(readFileSync('test/fixtures/dialects.json', 'utf8')),
  {
    name: 'a file of many lines is included',
    files: { 'a.md': '# T\n\n```\n--8<-- "x.txt"\n```\n\n## S\n', 'x.txt': '`\n'.repeat(200_000) },
    read: 'a.md',
    expect: { title: 'T', warnings: {} },
  },
];

type Node = DefaultTreeAdapterTypes.ChildNode;
type Element = DefaultTreeAdapterTypes.Element;

const isElement = (node: Node): node is Element => 'tagName' in node;
const attribute = (node: Element, name: string) => node.attrs.find((one) => one.name === name)?.value;

function* elements(node: { readonly childNodes?: readonly Node[] }): Generator<Element> {
  for (const child of node.childNodes ?? [])
    if (isElement(child)) {
      yield child;
      yield* elements(child);
    }
}

/** Each picture has its own path behind its end. */
function withPictures(files: Case['files']): Readonly<Record<string, string | Uint8Array>> {
  const isPicture = (path: string) => path.endsWith('.png');
  return Object.fromEntries(
    Object.entries(files).map(([path, text]) =>
      isPicture(path) ? [path, Buffer.concat([pictures.png, Buffer.from(path)])] : [path, text],
    ),
  );
}

/** Of a `data:` address; null if it is another one. */
function pathInPicture(source: string): string | null {
  const [, data] = /^data:image\/png;base64,(.*)$/.exec(source) ?? [];
  return data === undefined ? null : Buffer.from(data, 'base64').subarray(pictures.png.length).toString();
}

const blocks =
  /^(?:p|div|h[1-6]|li|ul|ol|pre|table|tr|td|th|details|summary|blockquote|figure|figcaption|dl|dt|dd|article|header|br)$/;

function textOf(node: Node): string {
  if (node.nodeName === '#text' && 'value' in node) return node.value;
  if (!isElement(node) || attribute(node, 'class') === 'missing-picture') return '';
  const inner = node.childNodes.map(textOf).join('');
  return blocks.test(node.tagName) ? ` ${inner} ` : inner;
}

const folded = (text: string) => text.replace(/\s+/g, ' ').trim();

/** What a reader sees of a page. */
function readPage(html: string, pathOf: (href: string) => string) {
  const [article] = [...elements(parse(html) as never)].filter(({ tagName }) => tagName === 'article');
  if (article === undefined) throw new Error('The page has no article.');
  const all = [...elements(article)];
  const named = (...names: readonly string[]) => all.filter(({ tagName }) => names.includes(tagName));
  const classOf = (one: Element) => attribute(one, 'class') ?? '';
  const alerts = all.filter((one) => classOf(one).startsWith('alert '));
  const firstText = (one: Element) => folded(textOf(one.childNodes.find(isElement) as Node));
  const isTitle = (one: Element) => one.tagName === 'h1' && attribute(one, 'id') === undefined;
  return {
    headings: named('h1', 'h2', 'h3', 'h4', 'h5', 'h6')
      .filter((one) => !isTitle(one))
      .map((one) => [Number(one.tagName[1]), folded(textOf(one)), attribute(one, 'id')]),
    ids: named('a', 'div', 'span', 'p')
      .flatMap((one) => attribute(one, 'id') ?? [])
      .filter((id) => !id.includes(':')),
    alerts: alerts.map((one) => [classOf(one).split(' ')[1], firstText(one)]),
    details: named('details').map(firstText),
    figures: named('figcaption').map((one) => folded(textOf(one))),
    tabs: named('p').flatMap((one) => {
      const [only, ...others] = one.childNodes;
      const isLabel =
        only !== undefined && others.length === 0 && isElement(only) && only.tagName === 'strong';
      return isLabel ? [folded(textOf(one))] : [];
    }),
    code: named('pre').map((one) => {
      const [inner] = [...elements(one)];
      const language = /language-(\S+)/.exec(inner ? classOf(inner) : '')?.[1] ?? '';
      return [language, textOf(one).replace(/^ |\n? $/g, '')];
    }),
    links: named('a').flatMap((one) => {
      const href = attribute(one, 'href');
      return href === undefined ? [] : [[folded(textOf(one)), pathOf(href)]];
    }),
    pictures: named('img').map((one) => [attribute(one, 'alt'), pathInPicture(attribute(one, 'src') ?? '')]),
    text: folded(
      article.childNodes
        .filter(
          (one) => !isElement(one) || one.tagName !== 'header' || !isTitle([...elements(one)][0] as Element),
        )
        .map(textOf)
        .join(''),
    ),
  };
}

// One index for all: what was in it before is gone.
const { index } = await openTestLibrary(t, {});

for (const { name, files, flags = [], read, expect, now } of cases)
  t.test(name, async (t) => {
    const at = Date.parse(now ?? '2026-11-28T12:00:00Z');
    const content = await temporaryFolder(t, withPictures(files));
    const docs = flags[flags.indexOf('--docs') + 1];
    const folder = await openContentFolder(content, flags.includes('--docs') ? { docs } : {});
    const future = flags.includes('--future');
    const indexer = await LibraryIndexer.create({
      ...{ folder, index, slugs: createSlugRecords(), now: () => at, future },
    });
    await indexer.sync();
    const documents = await index.select({ order: 'title' });
    const found = documents.find(({ path }) => path === read);
    if (found === undefined) throw new Error(`${read} is no document`);
    const document = await index.read(found.slug);
    if (document === undefined) throw new Error(`${read} is gone`);
    const referenced = new ReferencedFiles(index, folder, () => undefined);
    const addressOf = (slug: string) => `/docs/${encodeURIComponent(slug)}`;
    const { targets } = await referenced.filesOf({ document, format: 'html', addressOf, pictures: [] });
    const job = {
      kind: 'html',
      document,
      targets,
      ...folder.places,
      form: 'page',
      root: '',
    } as const;
    const { bytes } = await createHtml(job);
    const body = new TextDecoder().decode(bytes);
    const pathOf = (href: string) => {
      const [, slug, fragment = ''] = /^\/docs\/([^/#]*)(#.*)?$/.exec(href) ?? [];
      const path = documents.find((one) => one.slug === decodeURIComponent(slug ?? ''))?.path;
      return decodeURIComponent(path === undefined ? href : path + fragment);
    };
    const page = readPage(body, pathOf);
    const { warnings } = await index.summary();
    const counts: Record<string, number> = {};
    for (const { path, kind = 'none', count = 1 } of warnings)
      if (path === read) counts[kind] = (counts[kind] ?? 0) + count;
    const got: Record<string, unknown> = {
      ...{
        title: found.title,
        slug: found.slug,
        order: found.order ?? null,
        label: found.label ?? found.title,
      },
      ...{ date: found.date, updated: found.updated, draft: found.draft, hidden: found.hidden ?? false },
      ...{ lang: found.lang, description: found.description, tags: found.tags.map(({ title }) => title) },
      ...{ authors: found.authors, aliases: found.aliases ?? [], ...page, warnings: counts },
    };
    const shown = [...documentsIn(await readFolders(index))].filter(({ draft }) => !draft);
    got['tree'] = shown.map(({ path }) => path);
    got['isPublic'] = (await createPublicLibrary(index)()).documents.map(({ path }) => path);
    got['absent'] = ((expect['absent'] ?? []) as string[]).filter(
      (path) => !documents.some((one) => one.path === path),
    );
    for (const [key, want] of Object.entries(expect)) {
      const compared =
        key === 'links' ? (want as [string, string | null][]).filter(([, to]) => to !== null) : want;
      t.strictSame(got[key], compared, key);
    }
  });
