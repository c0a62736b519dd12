import { homedir } from 'node:os';
import { join } from 'node:path';
import * as z from 'zod/mini';
import { readRegularFile } from '../regularFile.ts';

/** No configuration is larger. */
const maxBytes = 1024 * 1024;

/** Where a secret comes from; without an origin it is for the runner at `host` as it is at the start. */
export type UserAuth = { readonly origin?: string | undefined } & (
  | { readonly command: readonly [string, ...string[]]; readonly file?: undefined }
  | { readonly file: string; readonly command?: undefined }
);

const authSchema = z.union([
  z.object({ origin: z.optional(z.url()), command: z.tuple([z.string()], z.string()) }),
  z.object({ origin: z.optional(z.url()), file: z.string() }),
]);
const configSchema = z.object({ auth: z.optional(z.union([authSchema, z.array(authSchema)])) });

/** The user's own file, never a workspace's: `$XDG_CONFIG_HOME/runner/config.json`, else under `~/.config`. */
export function userConfigPath(env: NodeJS.ProcessEnv): string {
  return join(env['XDG_CONFIG_HOME'] || join(env['HOME'] || homedir(), '.config'), 'runner', 'config.json');
}

/**
 * The `auth` entries of the user's configuration; no file is none.
 * @throws {Error} with a sentence, when the file is there and cannot be used.
 */
export async function readUserConfig(path: string): Promise<readonly UserAuth[]> {
  const text = await readFile(path);
  if (text === undefined) return [];
  const { auth } = parseConfig(text, path);
  return (Array.isArray(auth) ? auth : auth ? [auth] : []) as readonly UserAuth[];
}

/**
 * All that the user's configuration says, unchecked; undefined where there is no file.
 * @throws {Error} with a sentence, when the file is there and cannot be used.
 */
export async function readUserFile(path: string): Promise<unknown> {
  const text = await readFile(path);
  if (text === undefined) return undefined;
  const value = tryJson(text);
  if (value !== undefined) return value;
  throw new Error(`The configuration ${path} is not JSON.`);
}

function readFile(path: string): Promise<string | undefined> {
  return readRegularFile(path, maxBytes).catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return undefined;
    throw new Error(`The configuration ${path} cannot be read: ${error.message}`);
  });
}

function parseConfig(text: string, path: string): z.infer<typeof configSchema> {
  const parsed = configSchema.safeParse(tryJson(text));
  if (parsed.success) return parsed.data;
  throw new Error(
    `The configuration ${path} is not as expected: "auth" takes { origin?, command: [..] } or { origin?, file }.`,
  );
}

function tryJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
