import { basename } from 'node:path';
import * as z from 'zod/mini';
import { withoutUndefined } from '../../protocol/base/json.ts';
import { ContentError, parseFrontMatter } from '../../protocol/base/yaml.ts';
import type { PromptArgument } from '../../protocol/messages/prompts.ts';

/** What a file says. */
export interface PromptFile {
  readonly name: string;
  readonly description: string;
  readonly arguments: readonly PromptArgument[];
  readonly model?: string;
  readonly tools?: readonly string[];
  readonly text: string;
}

/**
 * Reads a Markdown file with front matter. The file's name is the default for `name`.
 * @throws {ContentError} with the line, if it is known.
 */
export function parsePromptFile(path: string, bytes: Uint8Array): PromptFile {
  const { values, body, bodyLine, lineOf } = parseFrontMatter(decode(bytes));
  const parsed = frontMatter.safeParse(values);
  if (!parsed.success) throw faultOf(parsed.error.issues[0], lineOf);
  const { name = nameOf(path), description, tools, ...rest } = withoutNull(parsed.data);
  if (!isPromptName(name)) throw new ContentError(`The name "${name}" ${nameRule}`, { line: lineOf('name') });
  const text = body.trim();
  if (text === '') throw new ContentError('There is no text below the front matter.', { line: bodyLine });
  const given = argumentsOf(rest.arguments ?? [], text, lineOf('arguments'));
  return withoutUndefined<PromptFile>({
    name,
    description: (description ?? '').replace(/\s+/g, ' ').trim(),
    arguments: given,
    model: rest.model,
    tools: typeof tools === 'string' ? [tools] : tools,
    text,
  });
}

/** The name that a file gives its prompt if its front matter does not. */
export function nameOf(path: string): string {
  return basename(path).replace(/\.md$/i, '');
}

/** So that it is one word behind a slash, on every system and in every client. */
export function isPromptName(name: string): boolean {
  return /^[a-z0-9][a-z0-9_-]{0,63}$/.test(name);
}

const nameRule =
  'cannot be typed behind a slash: it needs at most 64 lower-case letters, digits, "_" and "-", and begins with a letter or a digit. Write "name:" in the front matter, or rename the file.';

function line(longest: number) {
  return z.string('must be a text').check(
    z.trim(),
    z.minLength(1, 'must not be empty'),
    z.maxLength(longest, `must have at most ${longest} characters`),
    z.refine((text) => !/\p{Cc}/u.test(text), 'must be one line without control characters'),
  );
}

const maxArguments = 20;

const argument = z.object(
  {
    name: z
      .string('is missing')
      .check(
        z.regex(
          /^[A-Za-z][A-Za-z0-9_-]{0,63}$/,
          'must begin with a letter, and have at most 64 letters, digits, "_" and "-"',
        ),
      ),
    description: z.nullish(line(500)),
    required: z.nullish(z.boolean('must be true or false')),
  },
  'must be a list of entries with "name", and perhaps "description" and "required"',
);

const frontMatter = z.object({
  name: z.nullish(line(100)),
  description: z.nullish(
    z.string('must be a text').check(z.maxLength(1_000, 'must have at most 1000 characters')),
  ),
  model: z.nullish(line(200)),
  tools: z.nullish(
    z.union(
      [line(200), z.array(line(200)).check(z.maxLength(100))],
      'must be a list of names of tool servers',
    ),
  ),
  arguments: z.nullish(
    z
      .array(argument, 'must be a list of entries with "name"')
      .check(z.maxLength(maxArguments, `must have at most ${maxArguments} entries`)),
  ),
});

function faultOf(
  issue: { readonly path: readonly PropertyKey[]; readonly message: string } | undefined,
  lineOf: (key: string) => number,
): ContentError {
  const [key = '', ...rest] = (issue?.path ?? []).map(String);
  const path = rest.reduce(
    (text, part) => (/^\d+$/.test(part) ? `${text}[${part}]` : `${text}.${part}`),
    key,
  );
  return new ContentError(`"${path}" ${issue?.message ?? 'is wrong'}.`, { line: lineOf(key) });
}

/** Each argument must have its place in the text: what the user types would be lost otherwise. */
function argumentsOf(
  given: readonly z.output<typeof argument>[],
  text: string,
  line: number,
): readonly PromptArgument[] {
  const names = given.map(({ name }) => name);
  const twice = names.find((name, index) => names.indexOf(name) !== index);
  if (twice !== undefined) throw new ContentError(`The argument "${twice}" is there twice.`, { line });
  const used = new Set(placeholdersIn(text));
  const unused = names.find((name) => !used.has(name));
  if (unused !== undefined)
    throw new ContentError(
      `The text does not use the argument "${unused}". Write {{${unused}}} where its value belongs.`,
      { line },
    );
  return given.map((each) => withoutUndefined<PromptArgument>(withoutNull(each)));
}

/** YAML reads a key without a value as `null`, which counts as missing. */
function withoutNull<T extends object>(values: T): { [K in keyof T]: Exclude<T[K], null> } {
  return Object.fromEntries(
    Object.entries(values).filter(([, value]) => value !== null && value !== undefined),
  ) as { [K in keyof T]: Exclude<T[K], null> };
}

/** Without a byte order mark. */
function decode(bytes: Uint8Array): string {
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes).replaceAll('\r\n', '\n');
  } catch (cause) {
    throw new ContentError('It is not valid UTF-8. Save it with the encoding UTF-8.', { cause });
  }
}

/** `{{name}}`, also with blanks inside of the braces. */
const placeholder = /\{\{[ \t]*([A-Za-z][A-Za-z0-9_-]{0,63})[ \t]*\}\}/g;

/** The names in a text, in their order. */
export function placeholdersIn(text: string): readonly string[] {
  return [...text.matchAll(placeholder)].map(([, name = '']) => name);
}

/**
 * Puts each value where its name stands. It goes over the text once, so that nothing in a value is replaced. A name
 * without a value here stays as it is.
 */
export function fillPlaceholders(text: string, values: ReadonlyMap<string, string>): string {
  return text.replace(placeholder, (written, name: string) => values.get(name) ?? written);
}

/** In UTF-16 units, how long the filled text will be. */
export function filledLength(text: string, values: ReadonlyMap<string, string>): number {
  return [...text.matchAll(placeholder)].reduce((length, [written, name = '']) => {
    const value = values.get(name);
    return value === undefined ? length : length - written.length + value.length;
  }, text.length);
}

/**
 * Reads what the user typed behind the name of a prompt. Words fill the arguments in their order; `name=value` fills
 * the one that it names. A word with blanks stands in quotes. What is left when only one argument is open is its value,
 * just as it was typed, so nothing is lost.
 */
export function readTypedArguments(typed: string, names: readonly string[]): ReadonlyMap<string, string> {
  const values = new Map<string, string>();
  let rest = typed.trim();
  while (rest !== '' && values.size < names.length) {
    const open = names.filter((name) => !values.has(name));
    const named = open.find((name) => rest.startsWith(`${name}=`));
    const name = named ?? open[0] ?? '';
    if (named !== undefined) rest = rest.slice(named.length + 1);
    const [value, length] = open.length === 1 ? readRest(rest) : readWord(rest);
    values.set(name, value);
    rest = rest.slice(length).trimStart();
  }
  return values;
}

/** A word in quotes ends at a blank or at the end. There, a backslash stands before a quote or a backslash. */
const quoted = /^(?:"((?:[^"\\]|\\[\s\S])*)"|'([^']*)')(?=\s|$)/;

/** The first word, and how many characters it takes. A quote that is not closed is a character like any other. */
function readWord(text: string): readonly [value: string, length: number] {
  const found = quoted.exec(text);
  if (found) {
    const [whole, double, single = ''] = found;
    return [double?.replace(/\\(["\\])/g, '$1') ?? single, whole.length];
  }
  const [word = ''] = /^\S*/.exec(text) ?? [];
  return [word, word.length];
}

/** All of it; without its quotes, if it is one word in quotes. */
function readRest(text: string): readonly [value: string, length: number] {
  const begun = text.trimStart();
  const [value, length] = readWord(begun);
  return [length === begun.length ? value : begun, text.length];
}
