import { createHash } from 'node:crypto';
import { readFile, stat } from 'node:fs/promises';
import { UsageError } from '../base/options.ts';
import { withoutIllegalCharacters } from '../content/inlineText.ts';
import { tryPictureType } from '../formats/markdown/pictureType.ts';
import { pageStyle } from './pageStyle.ts';
import { readingScript } from './reading/readingScript.ts';

/** Escapes text for HTML, including attributes. */
export function escapeHtml(text: string): string {
  return withoutIllegalCharacters(text).replace(/[&<>"']/g, (character) => `&#${character.charCodeAt(0)};`);
}

/** What every page needs to know about the service. */
export interface Site {
  /**
   * Stands before every address that a page links to, posts to or redirects to: `${site.root}/read`. It is the path of
   * the base URL, so it is empty if the service has the host to itself.
   */
  readonly root: string;
  /** The name of the library, on every page. */
  readonly title: string;
  /** A picture beside the name, as a `data:` address; undefined for the service's own. */
  readonly logo?: string | undefined;
  /** Where a document is edited: an address with `{path}` for its path. */
  readonly editAddress?: string | undefined;
  /** Whether the owner signs in here; another server may do that. */
  readonly hasSignIn?: boolean;
  /** Whether strangers read the page. Then it names nothing but what is public, and has no folders, PDF or EPUB. */
  readonly isOpen?: boolean;
}

/** A feed of a page, with its address. */
export interface FeedLink {
  readonly title: string;
  readonly address: string;
}

interface Page {
  readonly site: Site;
  /** Plain text, for the title of the window, which the name of the library follows. */
  readonly title: string;
  /** The content of `<main>`, as HTML. */
  readonly body: string;
  /** The entry of the navigation for this page. */
  readonly place?: 'library' | 'reference';
  /** Whether the head of the page has a search box. */
  readonly hasSearch?: boolean;
  /** A page with a decision to make, such as a sign-in, has no links elsewhere. */
  readonly isAlone?: boolean;
  /** Whether the owner reads the page, and so can sign out. */
  readonly isOwners?: boolean;
  /** False if there are no pages for reading. */
  readonly hasLibrary?: boolean;
  readonly feeds?: readonly FeedLink[];
  /** The address by which search engines know the page. */
  readonly canonical?: string | undefined;
}

/** A whole page. It follows the reader's colours, fits a phone, and prints. */
export function page(content: Page): string {
  const { before, after } = pageAround(content);
  return `${before}${content.body}${after}`;
}

/** The HTML before and after the body of a page. */
export function pageAround(content: Omit<Page, 'body'>): { readonly before: string; readonly after: string } {
  const isReading = content.isOwners || content.site.isOpen;
  const script = isReading ? `\n<script>${readingScript}</script>` : '';
  const before = `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>${escapeHtml(`${content.title} · ${content.site.title}`)}</title>
<link rel="icon" href="${content.site.root}/favicon.ico">
${related(content)}<style>${pageStyle}</style>
</head>
<body>
<a class="skip" href="#page:content">Skip to the content</a>
<header class="top"><div class="bar">
<a class="brand" href="${content.site.root}/">${brand(content.site)}</a>
${content.isAlone ? '' : `${content.hasSearch ? searchInBar(content.site) : ''}${navigation(content)}`}
</div></header>
<main id="page:content" tabindex="-1">
`;
  return { before, after: `\n</main>${script}\n</body>\n</html>\n` };
}

/** What feed readers, search engines and the search box of a browser look for in the head of a reading page. */
function related({ site, isOwners, feeds = [], canonical }: Omit<Page, 'body'>): string {
  const link = (rel: string, address: string, more = '') =>
    `<link rel="${rel}"${more} href="${escapeHtml(address)}">\n`;
  const typed = (type: string, title: string) => ` type="application/${type}" title="${escapeHtml(title)}"`;
  return [
    canonical === undefined ? '' : link('canonical', canonical),
    ...feeds.map(({ title, address }) => link('alternate', address, typed('atom+xml', title))),
    isOwners || site.isOpen
      ? link('search', `${site.root}/opensearch.xml`, typed('opensearchdescription+xml', site.title))
      : '',
  ].join('');
}

/**
 * A page loads, sends and is framed by nothing but itself.
 * @param formTargets where else a form of the page may lead, as sources of a content security policy
 */
export function pageHeaders({
  formTargets = [],
  isReading = false,
}: {
  readonly formTargets?: readonly string[];
  /** Whether the page has the script of the reading pages. */
  readonly isReading?: boolean;
} = {}) {
  return {
    'content-security-policy': [
      "default-src 'none'",
      `style-src '${hashOf(pageStyle)}'`,
      ...(isReading ? [`script-src '${hashOf(readingScript)}'`] : []),
      "img-src 'self' data:",
      ...(isReading ? ["connect-src 'self'"] : []),
      "base-uri 'none'",
      `form-action ${["'self'", ...formTargets].join(' ')}`,
      "frame-ancestors 'none'",
    ].join('; '),
    // With `no-referrer`, browsers would post forms with the origin `null`.
    'referrer-policy': 'same-origin',
  } as const;
}

function hashOf(text: string): string {
  return `sha256-${createHash('sha256').update(text).digest('base64')}`;
}

function brand({ logo, title }: Site): string {
  const picture = logo === undefined ? mark : `<img class="logo" src="${escapeHtml(logo)}" alt="">`;
  return `${picture}<span dir="auto">${escapeHtml(title)}</span>`;
}

/** A shelf of three books. Alone, it has a colour that can be seen in light and dark tabs; in a page, its style has. */
const mark =
  '<svg xmlns="http://www.w3.org/2000/svg" color="#2a8f88" width="22" height="22" viewBox="0 0 22 22" aria-hidden="true"><path fill="currentColor" d="M3 3h4v14H3zM9 6h3v11H9zM13.4 5.6l3.3-1 3.6 12.2-3.3 1zM2 18.5h18V20H2z"/></svg>';

/** What browsers show in the tab of each page: the logo, or else the mark. */
export function iconOf({ logo }: Site): { readonly type: string; readonly bytes: Buffer } {
  const [, type, base64 = ''] = /^data:([^;]+);base64,(.*)$/.exec(logo ?? '') ?? [];
  if (type === undefined) return { type: 'image/svg+xml', bytes: Buffer.from(mark) };
  return { type, bytes: Buffer.from(base64, 'base64') };
}

const searchInBar = ({ root }: Site) => `<form class="search" role="search" action="${root}/read"><div>
<label class="hidden" for="page:q">Search the library</label>
<input id="page:q" type="search" name="q" placeholder="Search the library" maxlength="1000" autocomplete="off">
</div>${foundIn('', '')}</form>
`;

/** Where the script of the reading pages shows what a search has found. */
export function foundIn(count: string, hits: string): string {
  return `<div class="found" id="page:found"><p class="count" role="status">${count}</p>\n${hits}</div>`;
}

function navigation({ site, place, isOwners = false, hasLibrary = true }: Omit<Page, 'body'>): string {
  const entry = (href: string, text: string, isHere = false) =>
    `<a href="${site.root}${href}"${isHere ? ' aria-current="true"' : ''}>${text}</a>`;
  const entries = [
    hasLibrary ? entry('/read', 'Library', place === 'library') : '',
    entry('/docs', 'Reference', place === 'reference'),
    isOwners ? entry('/sign-out', 'Sign out') : '',
    site.isOpen && site.hasSignIn ? entry('/sign-in', 'Sign in') : '',
  ];
  return `<nav aria-label="Main">${entries.join('')}</nav>`;
}

/** In bytes. Every page contains the picture. */
const maxBytes = 100_000;

/** The picture that `--logo` names, as a `data:` address. Throws UsageError. */
export async function readLogo(file: string): Promise<string> {
  const found = await stat(file).catch(() => undefined);
  if (!found?.isFile()) throw new UsageError(`--logo ${file} is not a file.`);
  if (found.size > maxBytes)
    throw new UsageError(
      `--logo ${file} has more than ${maxBytes / 1_000} KB. Every page contains it: make it smaller.`,
    );
  const bytes = await readFile(file).catch((cause: unknown) => {
    throw new UsageError(`--logo ${file} cannot be read.`, { cause });
  });
  const type = tryPictureType(bytes)?.type;
  if (type === 'png') return dataAddress('png', bytes);
  if (type !== 'svg') throw new UsageError(`--logo ${file} must be a PNG or an SVG.`);
  const { sanitiseSvg } = await import('../formats/markdown/svg.ts');
  const sanitised = sanitiseSvg(bytes.toString());
  if (sanitised === undefined)
    throw new UsageError(`--logo ${file} has parts that cannot be shown safely. Simplify it, or name a PNG.`);
  return dataAddress('svg+xml', Buffer.from(sanitised.text));
}

function dataAddress(type: string, bytes: Buffer): string {
  return `data:image/${type};base64,${bytes.toString('base64')}`;
}
