import { toUSVString } from 'node:util';
import * as z from 'zod/mini';
import { withoutUndefined } from '../../../protocol/base/json.ts';
import { cutText, showLine } from '../../../protocol/base/text.ts';
import type { ElicitField, ElicitOption, ElicitValue } from '../../../protocol/messages/elicit.ts';

/** A field with what its values must be. */
export interface FormField extends ElicitField {
  /** Of a text in characters, of a number, or of choices in their number. */
  readonly least?: number;
  readonly most?: number;
}

const maxFields = 20;
const maxOptions = 100;
const maxTitle = 100;
const maxDescription = 500;

const about = { title: z.optional(z.string()), description: z.optional(z.string()) };
const word = z.string().check(z.minLength(1), z.maxLength(1_000));
const bound = z.optional(z.number());
const range = { minimum: bound, maximum: bound, default: z.optional(z.number()) };
const named = z.array(z.object({ const: word, title: z.string() })).check(z.maxLength(maxOptions));
const words = z.array(word).check(z.maxLength(maxOptions));
const property = z.union([
  z.object({
    ...about,
    type: z.literal('string'),
    enum: words,
    enumNames: z.optional(z.array(z.string())),
    default: z.optional(z.string()),
  }),
  z.object({ ...about, type: z.literal('string'), oneOf: named, default: z.optional(z.string()) }),
  z.object({
    ...about,
    type: z.literal('string'),
    format: z.optional(z.enum(['email', 'uri', 'date', 'date-time'])),
    minLength: bound,
    maxLength: bound,
    default: z.optional(z.string()),
  }),
  z.object({ ...about, type: z.literal('number'), ...range }),
  z.object({ ...about, type: z.literal('integer'), ...range }),
  z.object({ ...about, type: z.literal('boolean'), default: z.optional(z.boolean()) }),
  z.object({
    ...about,
    type: z.literal('array'),
    items: z.union([z.object({ enum: words }), z.object({ anyOf: named })]),
    minItems: bound,
    maxItems: bound,
    default: z.optional(z.array(z.string())),
  }),
]);
const form = z.object({
  type: z.literal('object'),
  properties: z.record(z.string().check(z.minLength(1), z.maxLength(64)), property),
  required: z.optional(z.array(z.string())),
});

/** The fields of a flat schema of MCP; undefined if it is none, or too large to be asked. */
export function fieldsOf(schema: unknown): readonly FormField[] | undefined {
  const parsed = form.safeParse(schema);
  if (!parsed.success) return undefined;
  const { properties, required = [] } = parsed.data;
  const entries = Object.entries(properties);
  if (entries.length > maxFields) return undefined;
  return entries.map(([name, given]) => toField(name, given, required.includes(name)));
}

function toField(name: string, given: z.output<typeof property>, required: boolean): FormField {
  return withoutUndefined<FormField>({
    name,
    title: toLine(given.title, maxTitle),
    description: toLine(given.description, maxDescription),
    required,
    default: given.default,
    ...kindOf(given),
  });
}

function kindOf(given: z.output<typeof property>) {
  if (given.type === 'boolean') return { type: 'boolean' } as const;
  if (given.type === 'number' || given.type === 'integer')
    return { type: given.type, least: given.minimum, most: given.maximum };
  if (given.type === 'array') {
    const { items, minItems: least, maxItems: most } = given;
    const options = 'enum' in items ? toOptions(items.enum) : fromNamed(items.anyOf);
    return { type: 'choices', options, least, most } as const;
  }
  if ('enum' in given) return { type: 'choice', options: toOptions(given.enum, given.enumNames) } as const;
  if ('oneOf' in given) return { type: 'choice', options: fromNamed(given.oneOf) } as const;
  return { type: 'text', format: given.format, least: given.minLength, most: given.maxLength } as const;
}

function toOptions(values: readonly string[], titles: readonly string[] = []): readonly ElicitOption[] {
  return values.map((value, index) => ({ value, title: toLine(titles[index] ?? value, maxTitle) ?? value }));
}

function fromNamed(options: z.output<typeof named>): readonly ElicitOption[] {
  return options.map(({ const: value, title }) => ({ value, title: toLine(title, maxTitle) ?? value }));
}

/** Undefined if nothing is left. */
function toLine(text: string | undefined, most: number): string | undefined {
  if (text === undefined) return undefined;
  return cutText(showLine(toUSVString(cutText(text, most))), most).trim() || undefined;
}

/** The value that goes to the server, none, or what is wrong as a sentence. */
export type CheckedValue = { readonly value: ElicitValue | undefined } | { readonly problem: string };

/** In characters. */
const maxText = 100_000;

/** Reads a value, which may be the text that the user typed. */
export function checkValue(field: FormField, given: ElicitValue | undefined): CheckedValue {
  const label = field.title ?? showLine(field.name);
  const wrong = (clause: string) => ({ problem: `${label} ${clause}.` });
  if (given === undefined || given === '' || (Array.isArray(given) && given.length === 0)) {
    if (field.default !== undefined) return { value: field.default };
    return field.required ? wrong('needs a value') : { value: undefined };
  }
  const { type, least = Number.NEGATIVE_INFINITY, most = Number.POSITIVE_INFINITY } = field;
  if (type === 'boolean') {
    const value = typeof given === 'boolean' ? given : booleans[String(given).trim().toLowerCase()];
    return value === undefined ? wrong('must be yes or no') : { value };
  }
  if (type === 'number' || type === 'integer') {
    const text = String(given).trim();
    const value = Number(text);
    if (text === '' || !Number.isFinite(value)) return wrong('must be a number');
    if (type === 'integer' && !Number.isInteger(value)) return wrong('must be a whole number');
    if (value < least) return wrong(`must be at least ${least}`);
    return value > most ? wrong(`must be at most ${most}`) : { value };
  }
  if (type === 'choice') {
    const value = optionOf(field, String(given));
    return value === undefined ? wrong('must be one of the choices') : { value };
  }
  if (type === 'choices') {
    const typed = Array.isArray(given) ? given.map(String) : String(given).split(',');
    const values = [...new Set(typed.map((one) => optionOf(field, one)))];
    if (values.includes(undefined)) return wrong('must be some of the choices');
    if (values.length < least) return wrong(`needs at least ${least} choices`);
    return values.length > most ? wrong(`takes at most ${most} choices`) : { value: values as string[] };
  }
  const value = String(given);
  if (value.length > Math.min(most, maxText))
    return wrong(`must have at most ${Math.min(most, maxText)} characters`);
  if (value.length < least) return wrong(`must have at least ${least} characters`);
  if (field.format && !formats[field.format].is(value)) return wrong(`must be ${formats[field.format].what}`);
  return { value };
}

const booleans: Readonly<Record<string, boolean | undefined>> = {
  ...{ y: true, yes: true, true: true },
  ...{ n: false, no: false, false: false },
};

/** By its value, or by its title. */
function optionOf({ options = [] }: FormField, given: string): string | undefined {
  const wanted = given.trim().toLowerCase();
  const found =
    options.find(({ value }) => value === given) ??
    options.find(({ value, title }) => [value, title].some((one) => one.trim().toLowerCase() === wanted));
  return found?.value;
}

const formats = {
  email: { what: 'an e-mail address', is: (text: string) => /^[^\s@]+@[^\s@]+\.[^\s@]+$/.test(text) },
  uri: { what: 'an address, such as https://example.org/', is: (text: string) => URL.canParse(text) },
  date: {
    what: 'a date, such as 2026-11-30',
    is: (text: string) => /^\d{4}-\d\d-\d\d$/.test(text) && isTime(text),
  },
  'date-time': {
    what: 'a date and a time, such as 2026-11-30T12:00:00Z',
    is: (text: string) =>
      /^\d{4}-\d\d-\d\dT\d\d:\d\d(:\d\d(\.\d+)?)?(Z|[+-]\d\d:\d\d)$/.test(text) && isTime(text),
  },
} as const;

function isTime(text: string): boolean {
  return !Number.isNaN(Date.parse(text));
}
