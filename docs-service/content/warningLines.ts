import { count } from '../../protocol/base/text.ts';
import {
  type ContentWarning,
  countWarnings,
  toSentence,
  type WarningKind,
  warningKinds,
} from './document.ts';

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
