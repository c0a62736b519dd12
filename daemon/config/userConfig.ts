import { homedir } from 'node:os';
import { join } from 'node:path';
import * as z from 'zod/mini';
import type { InitializationOptions } from '../../protocol/initialize.ts';
import { readRegularFile } from '../regularFile.ts';
import { readEach } from './eachSetting.ts';
import { isOfUser } from './settings.ts';

/** What the user's own configuration says: where secrets come from, and settings for every client that reads it. */
export interface UserConfig {
  readonly auth: readonly UserAuth[];
  readonly settings: InitializationOptions;
  /** What cannot be used, in sentences. The rest counts. */
  readonly problems: readonly string[];
}

/** Where a secret comes from; without an origin it is for the runner at `host` as it is at the start. */
export type UserAuth = { readonly origin?: string | undefined } & (
  | { readonly command: readonly [string, ...string[]]; readonly file?: undefined }
  | { readonly file: string; readonly command?: undefined }
);

/** No configuration is larger. */
const maxBytes = 1024 * 1024;

const authSchema = z.union([
  z.object({ origin: z.optional(z.url()), command: z.tuple([z.string()], z.string()) }),
  z.object({ origin: z.optional(z.url()), file: z.string() }),
]);

/** The user's own file, never a workspace's: `$XDG_CONFIG_HOME/runner/config.json`, else under `~/.config`. */
export function userConfigPath(env: NodeJS.ProcessEnv): string {
  return join(env['XDG_CONFIG_HOME'] || join(env['HOME'] || homedir(), '.config'), 'runner', 'config.json');
}

/** No file says nothing. */
export async function readUserConfig(path: string): Promise<UserConfig> {
  try {
    return parseUserConfig(await readRegularFile(path, maxBytes), path);
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return nothing();
    return nothing(
      `The configuration ${path} cannot be read: ${error instanceof Error ? error.message : String(error)}`,
    );
  }
}

/** A problem names the file and the key, with its line where that can be had, and never quotes the text. */
export function parseUserConfig(text: string, path: string): UserConfig {
  const value = tryJson(text);
  if (value instanceof SyntaxError)
    return nothing(`The configuration ${path}${lineOfFault(text, value)} is not JSON. Nothing in it counts.`);
  if (typeof value !== 'object' || value === null || Array.isArray(value))
    return nothing(`The configuration ${path} is not a JSON object. Nothing in it counts.`);
  const { auth = [], ...settings } = value as { readonly auth?: unknown };
  const sources = z.array(authSchema).safeParse([auth].flat());
  const { taken, wrong, unknown } = readEach(settings, '', isOfUser);
  const leftOut = (key: string, why: string) =>
    `The configuration ${path}${lineOfKey(text, key)} has "${key}", which is left out: ${why}.`;
  return {
    auth: sources.success ? (sources.data as readonly UserAuth[]) : [],
    settings: Object.fromEntries(Object.entries(taken).filter(([, setting]) => setting !== null)),
    problems: [
      ...(sources.success
        ? []
        : [leftOut('auth', 'it takes { origin?, command: [..] } or { origin?, file }')]),
      ...wrong.map(({ path: key, problem }) => leftOut(key, problem)),
      ...unknown.map((key) => leftOut(key, 'there is no such setting')),
    ],
  };
}

/**
 * All that the file says, unchecked; undefined where there is no file.
 * @throws {Error} with a sentence, when the file is there and cannot be used.
 */
export async function readUserFile(path: string): Promise<unknown> {
  const text = await readRegularFile(path, maxBytes).catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return undefined;
    throw new Error(`The configuration ${path} cannot be read: ${error.message}`);
  });
  if (text === undefined) return undefined;
  const value = tryJson(text);
  if (value instanceof SyntaxError) throw new Error(`The configuration ${path} is not JSON.`);
  return value;
}

function nothing(...problems: readonly string[]): UserConfig {
  return { auth: [], settings: {}, problems };
}

function tryJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch (error) {
    return error;
  }
}

/** The runtime says the position of most faults; of the others it only quotes the text. */
function lineOfFault(text: string, { message }: SyntaxError): string {
  const [, position] = /at position (\d+)/.exec(message) ?? [];
  return position === undefined ? '' : lineAt(text, Number(position));
}

/** Nothing where the key stands more than once. */
function lineOfKey(text: string, path: string): string {
  const name = JSON.stringify(
    path
      .split('.')
      .at(-1)
      ?.replace(/\[\d+\]$/, ''),
  );
  const first = text.indexOf(name);
  return first < 0 || text.includes(name, first + 1) ? '' : lineAt(text, first);
}

function lineAt(text: string, position: number): string {
  return `, line ${text.slice(0, position).split('\n').length},`;
}
