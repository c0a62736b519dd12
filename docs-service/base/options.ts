import { constants, type FileHandle, open } from 'node:fs/promises';
import { type ParseArgsConfig, parseArgs } from 'node:util';
import { nearestNames } from '../../protocol/base/editDistance.ts';
import { isOpenToOthers } from '../../protocol/base/platform/privateFile.ts';

/** One flag of a command. Each has a variable too: `--base-url` is `DOCS_BASE_URL`. */
interface OptionSpec {
  /** The placeholder of its value in the help; without one, it is a switch. */
  readonly value?: string;
  /** May be given several times; in a variable, spaces separate its values. */
  readonly multiple?: true;
  readonly help: string;
}

export type OptionSpecs = Readonly<Record<string, OptionSpec>>;

/** The values from flags or variables. A missing one is undefined, or empty if it may be given several times. */
export type OptionValues<Specs extends OptionSpecs> = {
  readonly [Name in keyof Specs]: Specs[Name] extends { readonly value: string }
    ? Specs[Name] extends { readonly multiple: true }
      ? readonly string[]
      : string | undefined
    : boolean;
};

export interface ParsedCommandLine<Specs extends OptionSpecs> {
  readonly values: OptionValues<Specs>;
  readonly words: readonly string[];
}

/** Reads the flags of a command. A flag takes precedence over its variable. Throws UsageError. */
export function parseOptions<Specs extends OptionSpecs>(
  specs: Specs,
  args: readonly string[],
  env: Readonly<Record<string, string | undefined>>,
): ParsedCommandLine<Specs> {
  const options: ParseArgsConfig['options'] = Object.fromEntries(
    Object.entries(specs).map(([name, { value, multiple = false }]) => [
      name,
      { type: value === undefined ? 'boolean' : 'string', multiple },
    ]),
  );
  const { values, positionals } = parse(args, options);
  const readOption = (name: string, spec: OptionSpec) => values[name] ?? fromVariable(name, spec, env);
  const read = Object.entries(specs).map(([name, spec]) => [name, readOption(name, spec)]);
  // Each value has the type that its row in the table gives.
  return { values: Object.fromEntries(read) as OptionValues<Specs>, words: positionals };
}

function parse(args: readonly string[], options: NonNullable<ParseArgsConfig['options']>) {
  try {
    return parseArgs({ args: [...args], options, allowPositionals: true });
  } catch (error) {
    throw new UsageError(
      `${(error as Error).message.split(/\.? To specify|\.?\n/, 1)[0]?.replace(/\.$/, '')}. Add --help to see the flags.`,
    );
  }
}

function fromVariable(
  name: string,
  { value: placeholder, multiple }: OptionSpec,
  env: Readonly<Record<string, string | undefined>>,
): string | boolean | readonly string[] | undefined {
  const variable = variableOf(name);
  const value = env[variable]?.trim() || undefined;
  if (multiple) return value?.split(/\s+/) ?? [];
  if (placeholder !== undefined) return value;
  if (value === undefined || /^(0|false|no|off)$/i.test(value)) return false;
  if (/^(1|true|yes|on)$/i.test(value)) return true;
  throw new UsageError(`${variable} must be 1 or 0, not "${value}".`);
}

/** A warning for each variable that looks like ours but belongs to no flag, with the nearest one that does. */
export function unknownVariables(
  specs: readonly OptionSpecs[],
  env: Readonly<Record<string, string | undefined>>,
): readonly string[] {
  const known = new Set(specs.flatMap((some) => Object.keys(some).map(variableOf)));
  return Object.keys(env)
    .filter((name) => name.startsWith('DOCS_') && !known.has(name))
    .sort()
    .map((name) => {
      const [near] = nearestNames(name, [...known], 1);
      const hint = near === undefined ? 'Add --help to see the flags.' : `Did you mean ${near}?`;
      return `warning: there is no variable ${name}, so it is ignored. ${hint}`;
    });
}

function variableOf(flag: string): string {
  return `DOCS_${flag.toUpperCase().replaceAll('-', '_')}`;
}

/** A whole number within bounds; `undefined` if it is missing. Throws UsageError. */
export function parseNumber(
  flag: string,
  value: string | undefined,
  min: number,
  max: number,
): number | undefined {
  if (value === undefined) return undefined;
  const number = /^\d{1,10}$/.test(value) ? Number(value) : Number.NaN;
  if (number >= min && number <= max) return number;
  throw new UsageError(`--${flag} must be a whole number from ${min} to ${max}, not "${value}".`);
}

const units: Readonly<Record<string, number>> = {
  ...{ s: 1_000, m: 60_000, h: 3_600_000, d: 86_400_000, y: 365 * 86_400_000 },
};

/** `30d` in milliseconds; the units are s, m, h, d and y. Throws UsageError. */
export function parseDuration(flag: string, value: string): number {
  const [, count = '', unit = ''] = /^(\d{1,6})([smhdy])$/.exec(value) ?? [];
  const milliseconds = Number(count) * (units[unit] ?? Number.NaN);
  if (milliseconds > 0) return milliseconds;
  throw new UsageError(`--${flag} must be a time such as 12h, 30d or 1y, not "${value}".`);
}

/** A wrong command line, with a sentence that says what to type instead. */
export class UsageError extends Error {
  override readonly name = 'UsageError';
}

/** By its name, because each bundle has a class of its own. */
export function isUsageError(error: unknown): boolean {
  return error instanceof Error && error.name === 'UsageError';
}

/** In bytes. */
const maxFileBytes = 8_192;

/**
 * The token with which this service authenticates at another server, from its file, and whether other users of this
 * machine may read the file. Throws with a sentence that names the file, and contains nothing from it.
 * @param flag that names the file, such as `--introspection-token-file`
 */
export async function readTokenFile(flag: string, path: string) {
  // A pipe must not make the service wait until somebody writes into it.
  const file = await open(path, constants.O_RDONLY | constants.O_NONBLOCK).catch((cause: unknown) => {
    throw new Error(`${flag} ${path} cannot be read.`, { cause });
  });
  try {
    return await read(file, `${flag} ${path}`);
  } finally {
    await file.close();
  }
}

async function read(file: FileHandle, name: string) {
  const found = await file.stat();
  if (!found.isFile()) throw new Error(`${name} is not a regular file.`);
  const { buffer, bytesRead } = await file.read(Buffer.alloc(maxFileBytes + 1), 0, maxFileBytes + 1, 0);
  const text = buffer.subarray(0, bytesRead).toString('latin1').trim();
  if (bytesRead > maxFileBytes || !/^[!-~]+$/.test(text))
    throw new Error(`${name} must contain one token and nothing else.`);
  return { text, isOpenToOthers: isOpenToOthers(found, 0o004) };
}
