import * as z from 'zod';
import { ContentError } from '../../protocol/base/contentError.ts';
import { cutText } from '../../protocol/base/text.ts';
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
