import { isRecord } from '../../protocol/base/json.ts';
import type { FileWarning } from './document.ts';
import { readDate, readTruth } from './fields.ts';
import type { FoundValue, FrontMatter } from './frontMatter.ts';

export interface DraftOptions {
  /** Milliseconds since 1970. */
  readonly now: number;
  /** Whether documents with a date in the future are served. */
  readonly future: boolean;
  /** Whether the page of a folder makes drafts of all documents below it. */
  readonly below?: boolean;
}

/**
 * Whether a document is a draft, in the words of any program. One sign is enough: what the author's own program would
 * hold back must not be published by mistake. It is published at the latest of the dates.
 */
export function readDraftState(
  frontMatter: FrontMatter,
  { path, dates }: { readonly path: string; readonly dates: readonly FoundValue[] },
  options: DraftOptions,
) {
  const folders = path.split('/').slice(0, -1);
  const isNever = ({ value }: FoundValue) => value === 'never' || value === false;
  const isHidden =
    options.below || folders.includes('_drafts') || frontMatter.find(['build.render']).some(isNever);
  const signs = [...wordSigns(frontMatter), ...timeSigns(dates, frontMatter, options)];
  const draft = isHidden || signs.some(({ isDraft }) => isDraft);
  const unread = draft ? undefined : tryUnreadSign(frontMatter, options);
  const due = signs.flatMap(({ until = 0 }) => (until > options.now ? [until] : []));
  const warnings: FileWarning[] = signs.flatMap(({ key, message }) =>
    message === undefined
      ? []
      : [{ kind: 'draft', line: frontMatter.lineOf(key), message: `"${key}" ${message}` }],
  );
  return {
    draft: draft || unread !== undefined,
    warnings: unread === undefined ? warnings : [...warnings, unread],
    due: due.length === 0 ? undefined : Math.min(...due),
  };
}

/** Whether all documents below a folder are drafts, as the front matter of Hugo's `_index.md` may say. */
export function cascadesDraft({ find, unread }: FrontMatter): boolean {
  const maps = find(['cascade']).flatMap(({ value }) => value);
  const isHeld = ([key, value]: readonly [key: string, value: unknown]) => {
    const read = readTruth(key, value);
    return /^draft$/i.test(key) && ('problem' in read || read.value);
  };
  return (
    maps.some((one) => isRecord(one) && Object.entries(one).some(isHeld)) ||
    unread.some(({ text }) => /^\W*cascade\b/i.test(text))
  );
}

interface Sign {
  readonly key: string;
  readonly isDraft: boolean;
  readonly message?: string | undefined;
  /** In milliseconds since 1970. */
  readonly until?: number;
}

function wordSigns({ find }: FrontMatter): readonly Sign[] {
  return find(['draft', 'headless', 'published', 'publish'])
    .filter(({ key, value }) => !(key === 'published' && isDated(value)))
    .map(({ key, value }) => {
      const read = readTruth(key, value);
      if ('problem' in read)
        return { key, isDraft: true, message: `${read.problem}. Until then the document is a draft.` };
      return { key, isDraft: read.value !== key.startsWith('publish'), message: read.warning };
    });
}

/** `published` may be a date. */
export function isDated(value: unknown): boolean {
  return typeof value === 'string' && /\d{4}/.test(value);
}

function timeSigns(
  dates: readonly FoundValue[],
  { find }: FrontMatter,
  { now, future }: DraftOptions,
): readonly Sign[] {
  const begins = dates.map(({ key, value }): Sign => {
    const until = Math.max(0, ...readDate(value).readings.map(beginningOf));
    const isDraft = until > now && !future;
    const message = isDraft ? `is in the future, so the document is a draft until then.` : undefined;
    return { key, until, isDraft, message };
  });
  const ends = find(['expiryDate', 'unpublishDate']).map(({ key, value }): Sign => {
    const until = Math.min(...readDate(value).readings.map(beginningOf));
    const isDraft = until <= now || until === Number.POSITIVE_INFINITY;
    const message = isDraft ? 'is over, or is not clear, so the document is a draft.' : undefined;
    return { key, until, isDraft, message };
  });
  return [...begins, ...ends];
}

/** A date without a time begins where it begins first on earth. */
function beginningOf(date: string): number {
  return Date.parse(date) - (date.length === 10 ? 14 * 3_600_000 : 0);
}

function tryUnreadSign({ unread }: FrontMatter, { now }: DraftOptions): FileWarning | undefined {
  const isHeld = (written: string) => {
    const [, key = '', value = ''] = heldForm.exec(written.slice(0, 300)) ?? [];
    if (key === '') return false;
    const plain = value.replace(/[ \t]#.*$/, '').replace(/^[\s"']+|[\s"',}\]]+$/g, '');
    const read = readTruth(key, plain);
    if (!('problem' in read)) return read.value === /^draft$/i.test(key);
    const { readings } = readDate(plain);
    return /^draft$/i.test(key) || readings.length === 0 || readings.some((date) => beginningOf(date) > now);
  };
  const found = unread.find(({ text }) => text.split(/[,{]/).some(isHeld));
  const message = 'The document is a draft, because this line could not be read and may hold it back.';
  return found && { kind: 'draft', line: found.line, message };
}

const heldForm = /^\W*(draft|published?|publish_?date)\W*[:=](.*)$/i;
