import * as z from 'zod';
import { cutText } from '../../protocol/base/text.ts';
import { ContentError } from '../../protocol/base/yaml.ts';
import { plainTitle } from './headings.ts';
import { isSlug } from './slug.ts';

export function text(longest: number) {
  return z
    .string({ error: 'must be a text' })
    .transform((value) => value.trim())
    .pipe(z.string().min(1, 'must not be empty').max(longest, `must have at most ${longest} characters`))
    .refine((value) => !/[\u0000-\u001f\u007f]/.test(value), 'must be one line without control characters');
}

/** The title of a document, without markup, and cut off where it is too long. */
export const title = z
  .string({ error: 'must be a text' })
  .transform((value) => cutText(plainTitle(value), 500))
  .pipe(text(500));

export const slug = text(100).refine(
  isSlug,
  'must have only lower-case letters and digits, with "-", "_" or "." between them, and must not end with .pdf, .epub, .md or .html',
);

/** A description may have several lines; line ends become spaces. */
export const description = z
  .string({ error: 'must be a text' })
  .max(5_000, 'must have at most 5000 characters')
  .transform((value) =>
    /[[\]`*<]/.test(value) ? plainTitle(value, 5_000) : value.replace(/\s+/g, ' ').trim(),
  )
  .refine((value) => !/[\u0000-\u001f\u007f]/.test(value), 'must not have control characters');

export const author = text(200);

/** A BCP 47 language tag, in its canonical case. */
export const language = z
  .string({ error: 'must be a language tag such as en or zh-Hans' })
  .transform((value, context) => {
    try {
      return Intl.getCanonicalLocales(value.trim().replaceAll('_', '-'))[0] ?? z.NEVER;
    } catch {
      context.addIssue({ code: 'custom', message: 'must be a language tag such as en or zh-Hans' });
      return z.NEVER;
    }
  });

/** A path inside the content folder, with `/` between its parts. Its target is checked when it is used. */
export const contentPath = z
  .string({ error: 'must be a path inside the content folder' })
  .max(1_000)
  .transform((value) => value.trim().replace(/^\.\//, ''))
  .refine(
    (value) =>
      value !== '' && !/^[/\\]|^[a-z]+:|[\\\u0000-\u001f]/i.test(value) && !value.split('/').includes('..'),
    'must be a path inside the content folder',
  );

/** Checks the values of a file. Throws one ContentError that names every wrong key. */
export function parseFields<Schema extends z.ZodType>(schema: Schema, values: unknown): z.output<Schema> {
  const result = schema.safeParse(values);
  if (result.success) return result.data;
  const sentences = result.error.issues
    .slice(0, 5)
    .map(({ path, message }) => `"${path.join('.')}" ${message}`);
  throw new ContentError(`${sentences.join('; ')}.`);
}

export type ValueReading<Value> =
  | {
      readonly value: Value;
      /** How it was read. */
      readonly warning?: string;
    }
  | {
      /** What the author must write instead, because its meaning is not clear. */
      readonly problem: string;
    };

/** `true` or `false`, in any usual spelling. */
export function readTruth(key: string, written: unknown): ValueReading<boolean> {
  if (typeof written === 'boolean') return { value: written };
  const value = typeof written === 'string' ? truths.get(written.trim().toLowerCase()) : undefined;
  return value === undefined
    ? { problem: 'must be true or false' }
    : { value, warning: `was read as ${value}. Write "${key}: ${value}".` };
}

const truths: ReadonlyMap<string, boolean> = new Map([
  ...['true', 'yes', 'y', 'on', '1'].map((word) => [word, true] as const),
  ...['false', 'no', 'n', 'off', '0'].map((word) => [word, false] as const),
]);

export type DateReading = ValueReading<string> & {
  /** Every date that may be meant, in ISO 8601: if only a year is clear, its first day. */
  readonly readings: readonly string[];
};

/**
 * A date or a time from front matter, in ISO 8601; one without a zone counts as UTC. Other usual forms are read with a
 * warning, but a day and a month that could be either are not guessed.
 */
export function readDate(written: unknown): DateReading {
  const text = typeof written === 'string' ? written.trim() : '';
  const exact = tryIsoDate(text);
  if (exact !== undefined) return { value: exact, readings: [exact] };
  const readings = text.length > maxLength ? [] : readingsOf(text);
  const [value, other] = readings;
  if (value === undefined)
    return {
      problem: 'must be a date that exists, such as 2026-11-21 or 2026-11-21T09:30:00Z',
      readings: Array.from(
        text.slice(0, maxLength).matchAll(/(?<!\d)\d{4}(?!\d)/g),
        ([year]) => `${year}-01-01`,
      ),
    };
  if (other !== undefined)
    return { problem: `must be ${value} or ${other}: "${text}" may mean either`, readings };
  return { value, warning: `was read as ${value}. Write it in this form.`, readings };
}

/** In characters: the longest usual form has fewer. */
const maxLength = 60;

const isoForm =
  /^\d{4}-\d{2}-\d{2}(?:[T ]\d{2}:\d{2}(?::\d{2}(?:\.\d{1,9})?)?(?: ?(?:Z|[+-]\d{2}:?\d{2}))?)?$/;

function tryIsoDate(text: string): string | undefined {
  if (!isoForm.test(text)) return undefined;
  const day = text.slice(0, 10);
  const midnight = new Date(`${day}T00:00:00Z`);
  if (Number.isNaN(midnight.valueOf()) || midnight.toISOString().slice(0, 10) !== day) return undefined;
  if (text.length === 10) return text;
  const zoned = /(?:Z|[+-]\d{2}:?\d{2})$/.test(text.slice(10)) ? text : `${text}Z`;
  const written = zoned
    .replace(' ', 'T')
    .replace(' ', '')
    .replace(/([+-]\d{2})(\d{2})$/, '$1:$2');
  return Number.isNaN(Date.parse(written)) ? undefined : written;
}

/** Everything that the text may mean, at most two dates. */
function readingsOf(text: string): readonly string[] {
  const basic = /^(\d{8})T(\d{2})(\d{2})(\d{2})?/i;
  const { day, time } = withoutTime(
    text.replace(basic, (_, day, hours, minutes, seconds = '00') => `${day}T${hours}:${minutes}:${seconds}`),
  );
  const readings = daysOf(day.replace(/^(?:mon|tue|wed|thu|fri|sat|sun)[a-z]*\.?,? +/i, '')).map(
    ([year, month, date]) => tryIsoDate(`${year}-${twoDigits(month)}-${twoDigits(date)}${time}`),
  );
  return [...new Set(readings.filter((reading) => reading !== undefined))];
}

const timeForm =
  /(?:T|,? +(?:at +)?)(\d{1,2}):(\d{2})(:\d{2}(?:\.\d{1,9})?)?(?: ?([ap])\.?m\.?)?(?: ?(Z|UTC|GMT|[+-]\d{2}:?\d{2}))?$/i;

/** The day as it was written, and the time in ISO 8601, with its `T`. */
function withoutTime(text: string): { readonly day: string; readonly time: string } {
  const found = timeForm.exec(text);
  if (found === null) return { day: text, time: '' };
  const [, hour = '', minutes = '', seconds = '', half, zone = ''] = found;
  const hours =
    half === undefined ? Number(hour) : (Number(hour) % 12) + (half.toLowerCase() === 'p' ? 12 : 0);
  const offset = /^[a-z]/i.test(zone) ? 'Z' : zone;
  return { day: text.slice(0, found.index), time: `T${twoDigits(hours)}:${minutes}${seconds}${offset}` };
}

type Day = readonly [year: string, month: string | number, date: string];

function daysOf(text: string): readonly Day[] {
  const [, ...yearFirst] = /^(\d{4})[-/.](\d{1,2})[-/.](\d{1,2})$|^(\d{4})(\d{2})(\d{2})$/.exec(text) ?? [];
  const [year, month, date] = yearFirst.filter((part) => part !== undefined);
  if (year !== undefined && month !== undefined && date !== undefined) return [[year, month, date]];
  const [, one, two, last] = /^(\d{1,2})[-/.](\d{1,2})[-/.](\d{4})$/.exec(text) ?? [];
  if (one !== undefined && two !== undefined && last !== undefined)
    return [
      [last, one, two],
      [last, two, one],
    ];
  const named = tryNamedDay(text);
  return named === undefined ? [] : [named];
}

/** `5 January 2026`, `5th of Jan. 2026`, `Jan 5, 2026` and `2026 Jan 5`, also with `-` between the parts. */
function tryNamedDay(text: string): Day | undefined {
  const words = text
    .toLowerCase()
    .replace(/^(\D*\d{1,2})(?:st|nd|rd|th|\.)(?=[\s,])/, '$1')
    .split(/[\s,.-]+|\bof\b/)
    .filter(Boolean);
  const name = words.find((word) => /^[a-z]{3,}$/.test(word)) ?? '';
  const month = name === '' ? 0 : months.findIndex((one) => one.startsWith(name)) + 1;
  const year = words.find((word) => /^\d{4}$/.test(word));
  const date = words.find((word) => /^\d{1,2}$/.test(word));
  return words.length === 3 && month > 0 && year !== undefined && date !== undefined
    ? [year, month, date]
    : undefined;
}

const months = 'january february march april may june july august september october november december'.split(
  ' ',
);

function twoDigits(part: string | number): string {
  return String(part).padStart(2, '0');
}
