import { existsSync } from 'node:fs';
import { isAbsolute, join, resolve } from 'node:path';
import * as z from 'zod/mini';
import { isRecord } from '../../protocol/base/json.ts';
import { homeFolder } from '../../protocol/base/platform/folders.ts';
import { builtinServer } from '../../protocol/messages/tools.ts';

/** The checked entry of a tool server. */
export type ServerEntry = { readonly name: string; readonly variables?: FilledEntry } & (
  | {
      readonly kind: 'stdio';
      readonly command: string;
      readonly args: readonly string[];
      readonly env: Readonly<Record<string, string>>;
      readonly cwd?: string;
    }
  | {
      readonly kind: 'http';
      readonly url: string;
      readonly headers: Readonly<Record<string, string>>;
      readonly clientId?: string;
    }
  /** The daemon's own tools, for files in these folders. */
  | { readonly kind: 'builtin'; readonly folders: readonly string[] }
  | { readonly kind: 'disabled' }
  /** The problem is a sentence that quotes none of the entry's values. */
  | { readonly kind: 'wrong'; readonly problem: string }
);

/** That the user's variables are filled in. */
interface FilledEntry {
  /** The entry as it is written, for which approvals hold. */
  readonly written: string;
  /** What the variables held. */
  readonly used: readonly string[];
}

export type BuiltinEntry = Extract<ServerEntry, { readonly kind: 'builtin' }>;
export type HttpServerEntry = Extract<ServerEntry, { readonly kind: 'http' }>;

const text = z.string().check(z.maxLength(32_768));
const variables = z.record(
  z.string().check(z.regex(/^[^=\0]{1,256}$/)),
  z.union([text, z.pipe(z.union([z.number(), z.boolean()]), z.transform(String))]),
);
const noNul = text.check(z.refine((value) => !value.includes('\0')));

const stdio = z.object({
  type: z.exactOptional(z.literal('stdio')),
  command: noNul.check(z.minLength(1)),
  args: z.exactOptional(z.array(noNul).check(z.maxLength(1_000))),
  env: z.exactOptional(variables),
  cwd: z.exactOptional(noNul),
});

const headers = z.record(
  z.string().check(z.regex(/^[\w!#$%&'*+.^`|~-]{1,256}$/)),
  text.check(z.regex(/^[\t\x20-\x7e]*$/)),
);

const http = z.object({
  type: z.exactOptional(z.enum(['http', 'streamable-http'])),
  url: z.string().check(z.refine(isHttpAddress)),
  headers: z.exactOptional(headers),
  clientId: z.exactOptional(text),
});

/**
 * Other hosts allow any name, and people write `Brave Search (v2)`. A comma separates names and a slash begins the name
 * of a tool where users write them. Characters that nobody sees could make one name look like another.
 */
function isServerName(name: string): boolean {
  return (
    name.length <= 64 &&
    /^[\p{L}\p{N}\p{M}\p{P}\p{S}]+(?: [\p{L}\p{N}\p{M}\p{P}\p{S}]+)*$/u.test(name) &&
    !/[,/"]/.test(name)
  );
}

const reservedName = `The name "${builtinServer}" belongs to the built-in tools. Give the server another one.`;

const nameRule =
  'A name has up to 64 characters: letters, digits, signs other than a comma, a slash and a quotation mark, and single blanks between them.';

type Entry = Readonly<Record<string, unknown>>;

/** The address under its names in other hosts. */
const otherKeys = ['httpUrl', 'serverUrl', 'streamableHttp'];

/**
 * Reads an entry. Problems name only its keys, because its values may be secrets. Variables of `env` are filled in: the
 * caller passes it for the user's own entries alone, because the server gets their values.
 */
export function readServerEntry(name: string, value: unknown, env?: NodeJS.ProcessEnv): ServerEntry {
  if (!isServerName(name)) return wrong(name, nameRule);
  if (name.toLowerCase() === builtinServer) return wrong(name, reservedName);
  if (!isRecord(value)) return wrong(name, 'It is not an object.');
  const isOn = readSwitches(value);
  if (typeof isOn === 'string') return wrong(name, isOn);
  if (!isOn) return { name, kind: 'disabled' };
  if ('command' in value && 'url' in value)
    return wrong(name, 'It has both "command" and "url"; leave one out.');
  const other = otherKeys.find((key) => key in value || value['type'] === key);
  if (other !== undefined)
    return wrong(name, `It has "${other}"; here it is { "type": "http", "url": "https://…" }.`);
  if (!('command' in value || 'url' in value)) return wrong(name, 'It needs "command" or "url".');
  return env === undefined ? readEnabled(name, value) : readFilled(name, value, env);
}

/** Whether the entry is switched on, or what is wrong. Hosts have one key or the other. */
function readSwitches({ disabled = false, enabled = true }: Entry): boolean | string {
  if (typeof disabled !== 'boolean') return '"disabled" is true or false.';
  return typeof enabled === 'boolean' ? enabled && !disabled : '"enabled" is true or false.';
}

function readFilled(name: string, value: Entry, env: NodeJS.ProcessEnv): ServerEntry {
  const written = ['command', 'args', 'env', 'url', 'headers'].flatMap((key) =>
    key in value ? [[key, value[key]] as const] : [],
  );
  const filled = fillVariables(Object.fromEntries(written), env);
  if (filled.problem !== undefined) return wrong(name, filled.problem);
  const entry = readEnabled(name, { ...value, ...filled.values });
  if (!filled.isChanged) return entry;
  const { cwd, clientId } = value;
  return { ...entry, variables: { written: JSON.stringify([written, cwd, clientId]), used: filled.used } };
}

function readEnabled(name: string, value: object): ServerEntry {
  const parsed = 'command' in value ? stdio.safeParse(value) : http.safeParse(value);
  if (!parsed.success) return wrong(name, problemOf(parsed.error));
  if ('url' in parsed.data) {
    const { url, headers = {}, clientId } = parsed.data;
    return { name, kind: 'http', url, headers, ...(clientId ? { clientId } : {}) };
  }
  const { command, args = [], env = {}, cwd } = parsed.data;
  return { name, kind: 'stdio', command, args, env, ...(cwd ? { cwd } : {}) };
}

function wrong(name: string, problem: string): ServerEntry {
  return { name, kind: 'wrong', problem };
}

function problemOf({ issues }: { readonly issues: readonly { readonly path: readonly PropertyKey[] }[] }) {
  const [key = 'it', inner] = issues[0]?.path ?? [];
  const where = typeof inner === 'number' ? `${String(key)}[${inner}]` : String(key);
  return `"${where}" is not as expected: { command, args?, env?, cwd? }, or { type?: "http", url, headers? }.`;
}

function isHttpAddress(value: string): boolean {
  if (!URL.canParse(value)) return false;
  const { protocol, username, password } = new URL(value);
  return (protocol === 'http:' || protocol === 'https:') && username === '' && password === '';
}

export interface StartPlace {
  /** The workspace's root. */
  readonly root: string | undefined;
  readonly env: NodeJS.ProcessEnv;
}

/** The folder in which a program starts. */
export function startFolder({ cwd }: { readonly cwd?: string }, { root, env }: StartPlace): string {
  return resolve(
    cwd ?? [root, homeFolder(env)].find((folder) => folder !== undefined && existsSync(folder)) ?? '/',
  );
}

/**
 * The folder in which an entry starts, if the same entry may be another program in another folder: its command or an
 * argument is a relative path, or the name of something in the folder. Otherwise undefined.
 */
export function decisiveFolder(entry: ServerEntry, place: StartPlace): string | undefined {
  if (entry.kind !== 'stdio') return undefined;
  const folder = startFolder(entry, place);
  return [entry.command, ...entry.args].some((word) => isInFolder(word, folder)) ? folder : undefined;
}

function isInFolder(word: string, folder: string): boolean {
  if (word === '' || isAbsolute(word)) return false;
  return /[/\\]/.test(word) || existsSync(join(folder, word));
}

/** Values with the user's variables in their texts. */
interface FilledValues {
  readonly values: Readonly<Record<string, unknown>>;
  readonly isChanged: boolean;
  /** What the environment had for the variables: perhaps secrets. */
  readonly used: readonly string[];
  /** A sentence, if a text cannot be filled. It quotes no value. */
  readonly problem: string | undefined;
}

/** `$${`, or `${VAR}`, `${env:VAR}` and `${VAR:-default}`, as other hosts write them. */
const reference = /\$(\$\{)|\$\{(?:([a-zA-Z]+):)?([a-zA-Z_]\w*)(?::-([^}]*))?\}/g;

/**
 * Fills the variables of the environment into all texts of the values. As in a shell, a default also counts for a
 * variable that is empty. What looks like no variable stays as it is: an argument may be a script.
 */
function fillVariables(values: Readonly<Record<string, unknown>>, env: NodeJS.ProcessEnv): FilledValues {
  const used = new Set<string>();
  let isChanged = false;
  let problem: string | undefined;
  const lookUp = (name: string, usual: string | undefined) => {
    const known = Object.hasOwn(env, name) ? env[name] : undefined;
    if (known === undefined && usual === undefined)
      problem ??= `The variable ${name} is not set in the environment. Set it, or enter a default: "\${${name}:-…}".`;
    if (known) used.add(known);
    return known || (usual ?? '');
  };
  const fillText = (text: string) =>
    text.replace(reference, (_, literal?: string, kind = 'env', name = '', usual?: string) => {
      isChanged = true;
      if (literal !== undefined) return literal;
      if (kind === 'env') return lookUp(name, usual);
      problem ??= `"\${${kind}:${name}}" is no variable of the environment, such as "\${${name}}".`;
      return '';
    });
  /** Lists and records of texts, and nothing that is deeper. */
  const fill = (value: unknown, depth = 1): unknown => {
    if (typeof value === 'string') return fillText(value);
    if (Array.isArray(value) && depth > 0) return value.map((text) => fill(text, depth - 1));
    return isRecord(value) && depth > 0 ? fillRecord(value, depth - 1) : value;
  };
  const fillRecord = (record: Readonly<Record<string, unknown>>, depth?: number) =>
    Object.fromEntries(Object.entries(record).map(([key, value]) => [key, fill(value, depth)]));
  const filled = fillRecord(values);
  return { values: filled, isChanged, used: [...used], problem };
}
