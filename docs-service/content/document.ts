import { count } from '../../protocol/base/text.ts';
import type { FileLinks } from './writtenLinks.ts';

/** A term of the taxonomy. Its slug names it in addresses and filters. */
export interface Tag {
  readonly slug: string;
  readonly title: string;
}

/** The front matter of a document, checked; missing values are null or empty. */
export interface DocumentMetadata {
  /** Names the document in addresses: `isSlug` holds for it, and it is unique in the library. */
  readonly slug: string;
  readonly title: string;
  readonly type: string | null;
  readonly tags: readonly Tag[];
  /** ISO 8601, as the author wrote it: a date stays a date. A date without a time counts as midnight UTC. */
  readonly date: string | null;
  readonly updated: string | null;
  /** A BCP 47 tag, such as `en` or `zh-Hans`. */
  readonly lang: string | null;
  readonly authors: readonly string[];
  readonly description: string | null;
  /** A picture, as a path from the content folder with `/` between its parts. */
  readonly cover: string | null;
  readonly draft: boolean;
  /** Its name in navigation, if that is another one than its title. */
  readonly label?: string;
  /** Its place in its folder: the lowest is first. */
  readonly order?: number;
  /** Its place in the list of a program, such as `SUMMARY.md`, from 1: before those with an order. */
  readonly place?: number;
  /** What a list of a program says about its folder. */
  readonly folder?: { readonly label?: string; readonly order?: number; readonly place?: number };
  /** It is in no list that strangers or readers browse, but has an address. */
  readonly hidden?: boolean;
  /** Other addresses, such as `/old/place/`, and other names. */
  readonly aliases?: readonly string[];
  /** Names that its author gave to places in it, for links from any document, as in MyST. */
  readonly targets?: readonly string[];
  /** SHA-256 of the whole file, in hexadecimal. It changes with every change of the document. */
  readonly contentHash: string;
}

export interface Document extends DocumentMetadata {
  /** Relative to the content folder, with `/` between its parts. */
  readonly path: string;
  /** The Markdown without the front matter. */
  readonly body: string;
}

/** Why a file is not served as it is, in a sentence for its author. */
export interface ContentProblem {
  readonly path: string;
  readonly message: string;
}

export const warningKinds = [
  ...(['front-matter', 'value', 'slug', 'alias', 'draft', 'not-served', 'include', 'directive'] as const),
  ...(['shortcode', 'liquid', 'component', 'expression', 'link', 'anchor', 'picture', 'wikilink'] as const),
  ...(['duplicate-id', 'nav', 'limit'] as const),
];

export type WarningKind = (typeof warningKinds)[number];

/** What its author should look at in a file that is served as it is, in a sentence. */
export interface ContentWarning extends ContentProblem {
  readonly kind?: WarningKind;
  /** Counted from 1, the first line of the file. */
  readonly line: number;
  /** What in the file it is about, such as the address of a link. */
  readonly about?: string;
  /** How many warnings it stands for, if more than one. */
  readonly count?: number;
}

export function countWarnings(warnings: readonly ContentWarning[]): number {
  return warnings.reduce((sum, { count = 1 }) => sum + count, 0);
}

export function toSentence(found: ContentProblem | ContentWarning): string {
  const line = 'line' in found ? `:${found.line}` : '';
  return `${found.path}${line}: ${found.message}`;
}

/** Identifies a problem or a warning, whatever its line is now. */
export function keyOf({ path, message }: ContentProblem): string {
  return JSON.stringify([path, message]);
}

export type FileWarning = Omit<ContentWarning, 'path'>;

/** What a list of another program says about a document. */
export type ListedPlace = Pick<DocumentMetadata, 'place' | 'label' | 'hidden'>;

/** What a file such as `_category_.json`, or a list above it, says about a folder. */
export type ListedFolder = NonNullable<DocumentMetadata['folder']>;

/** A page in a list, and how it is called there. */
export type ListedPage = readonly [href: string, label?: string | undefined];

/** What is known of a file besides its document. */
export interface FileDetails {
  /** Absent if the file is no document. */
  readonly links?: FileLinks;
  /** The slug that its front matter names, and the line; absent if it names none. Several files may name one slug. */
  readonly named?: { readonly slug: string; readonly line: number };
  /** When a date in it comes, and it must be read again although it has not changed; in milliseconds since 1970. */
  readonly due?: number;
  /** Its first heading, which is its title unless many documents have it, and the one after that. */
  readonly headings?: readonly string[];
  /** What the lists of a program say about it, as JSON. */
  readonly navigation?: string;
  /** The pages that lists in it name. */
  readonly toctree?: readonly ListedPage[];
  /** Its title is its second heading. */
  readonly isRetitled?: boolean;
  /** Of its bytes, if the document depends on more than them. */
  readonly sourceHash?: string;
  /** The files that it includes, with their looks. */
  readonly includes?: Readonly<Record<string, string>>;
  /** Those of them that its readers may not read, so that they are left out. */
  readonly refused?: readonly string[];
  /** Names in its wikilinks that no file has. */
  readonly unnamed?: readonly string[];
  /** Addresses of pictures, with `/` in front, that no folder has. */
  readonly unplaced?: readonly string[];
  readonly aliases?: readonly string[];
  readonly targets?: readonly string[];
  /** An earlier version had it as a document that is no draft, and now its date holds it back. */
  readonly wasServed?: true;
  /** It makes drafts of all documents in its folder and below. */
  readonly cascades?: boolean;
}

export function warningsByKind(
  warnings: readonly ContentWarning[],
): ReadonlyMap<WarningKind, readonly ContentWarning[]> {
  const kinds = new Map<WarningKind, ContentWarning[]>(warningKinds.map((kind) => [kind, []]));
  for (const warning of warnings) kinds.get(warning.kind ?? 'value')?.push(warning);
  return new Map([...kinds].filter(([, found]) => found.length > 0));
}

/** One line for each kind: a library that is new here may have thousands of warnings. */
export function warningLines(warnings: readonly ContentWarning[]): readonly string[] {
  return [...warningsByKind(warnings)].flatMap(([kind, found]) => {
    const [first] = found;
    const phrase = phrases[kind];
    if (first === undefined || found.length === 1 || phrase === undefined) return found.map(toSentence);
    const files = new Set(found.map(({ path }) => path)).size;
    const about = first.about === undefined ? '' : ` "${first.about}"`;
    const example = `${first.path}:${first.line}${about}`;
    const total = countWarnings(found).toLocaleString('en');
    return `${total} ${phrase}, in ${count(files, 'file')}, such as ${example} (runner-docs doctor --warnings ${kind})`;
  });
}

/** What several warnings of a kind say together. Those of the other kinds are few, and each says something else. */
const phrases: Readonly<Partial<Record<WarningKind, string>>> = {
  'front-matter': 'blocks of front matter are not as they should be',
  value: 'values of front matter were left out, or may mean something else',
  slug: 'slugs are other ones than written',
  alias: 'aliases belong to several documents',
  draft: 'documents are drafts, or may be, for another reason than "draft: true"',
  include: 'files were not included',
  directive: 'blocks are of an unknown kind, so only their text is shown',
  shortcode: 'shortcodes were left out',
  liquid: 'template tags were left out',
  component: 'components were left out, except for the text in them',
  expression: 'expressions were left out',
  link: 'links lead nowhere',
  anchor: 'links lead to no heading or anchor',
  picture: 'pictures are missing',
  wikilink: 'wikilinks lead nowhere',
  'duplicate-id': 'ids are there twice, so the later ones have a number',
  limit: 'parts of documents were not read, because there are too many',
};
