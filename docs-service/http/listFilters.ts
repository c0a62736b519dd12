import { type Static, type TObject, Type } from 'typebox';
import { withoutUndefined } from '../../protocol/base/json.ts';
import type { DocumentFilter } from '../search/documentIndex.ts';

/** Folders with single slashes between them. None is `.` or `..`, which could lead out of the content folder. */
const folderPattern = '^(?!\\.{1,2}(?:/|$))[^/\\\\\\x00]+(?:/(?!\\.{1,2}(?:/|$))[^/\\\\\\x00]+)*/?$';

const day =
  '\\d{4}-(?:(?:0[13578]|1[02])-(?:0[1-9]|[12]\\d|3[01])|(?:0[469]|11)-(?:0[1-9]|[12]\\d|30)|02-(?:0[1-9]|[12]\\d))';
const hour = '(?:[01]\\d|2[0-3]):[0-5]\\d';
/** ISO 8601. In a query that is not encoded, the plus of a zone arrives as a blank. */
const timePattern = `^${day}(?:[Tt]${hour}(?::[0-5]\\d(?:\\.\\d{1,9})?)?(?:[Zz]|[+ -]${hour})?)?$`;

/** Which parameters match no pattern, in a sentence that goes on after their name. */
export const patternSentences: Readonly<Record<string, string>> = {
  [folderPattern]: 'must be a folder below the content folder, such as guides/ or guides/linux/',
  [timePattern]: 'must be a date or a time, such as 2026-11-21 or 2026-11-21T09:30:00Z',
};

const term = (description: string) =>
  Type.Optional(Type.String({ minLength: 1, maxLength: 100, description }));

/** The parameters that narrow a list of documents. */
export const filterParameters = {
  type: term('Only documents of this type, which is a `slug` of `/api/v1/types`.'),
  tag: term('Only documents with the tag of this slug, as in `/api/v1/tags`.'),
  path: Type.Optional(
    Type.String({
      minLength: 1,
      maxLength: 1_000,
      pattern: folderPattern,
      description: 'Only documents in this folder and its subfolders, from the content folder: `guides/`.',
    }),
  ),
  changed_since: Type.Optional(
    Type.String({
      pattern: timePattern,
      description:
        'Only documents whose text has changed here since this time (ISO 8601, UTC without a zone). After the index was made anew, these are all. What is gone is not listed.',
    }),
  ),
};

export function toDocumentFilter(
  { type, tag, path, changed_since: since }: Static<TObject<typeof filterParameters>>,
  drafts: boolean,
): DocumentFilter {
  return withoutUndefined<DocumentFilter>({
    ...{ type, tag, drafts },
    folder: path?.replace(/\/?$/, '/'),
    changedSince: since === undefined ? undefined : instantOf(since),
  });
}

function instantOf(time: string): number {
  const text = time.toUpperCase().replace(' ', '+');
  const hasZone = !text.includes('T') || /Z$|T.*[+-]/.test(text);
  return Date.parse(hasZone ? text : `${text}Z`);
}
