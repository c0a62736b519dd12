import { realpath } from 'node:fs/promises';
import { isRecord, tryJson } from '../../protocol/base/json.ts';
import { writePrivateFile } from '../../protocol/base/platform/privateFile.ts';
import { messageOf } from '../../protocol/base/text.ts';
import { defaultHost, parseAddress } from '../../protocol/messages/settings.ts';
import { RunnerError } from '../base/errors.ts';
import { readRegularFile } from '../base/regularFile.ts';
import { maxUserFileBytes, type UserFile } from './userFile.ts';

/**
 * Writes the address of the usual runner into the user's own configuration. The rest of it stays as it is, except that
 * `api` goes, which was about the former runner. A token without an origin stays with the former runner: it gets that
 * origin. The address counts when a daemon starts. Returns the file's path.
 * @throws {RunnerError} if the client has settings of its own, or the file cannot be read or written.
 */
export async function keepHost({ path, clientHasSettings }: UserFile, url: string): Promise<string> {
  if (clientHasSettings)
    throw new RunnerError('not-supported', 'The settings of this client are its own. Set the host there.');
  const { host: former, api: _, ...others } = await readFile(path, url);
  const auth = 'auth' in others ? { auth: pinned(others['auth'], originOf(former, others['servers'])) } : {};
  const text = JSON.stringify({ host: url, ...others, ...auth }, null, 2);
  try {
    // The file may be a link into a folder of its own.
    await writePrivateFile(await realpath(path).catch(() => path), `${text}\n`);
  } catch (error) {
    throw unusable(`${path} cannot be written: ${messageOf(error)}.`, url);
  }
  return path;
}

async function readFile(path: string, url: string): Promise<Readonly<Record<string, unknown>>> {
  let text: string;
  try {
    text = await readRegularFile(path, maxUserFileBytes);
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === 'ENOENT' || code === 'ENOTDIR') return {};
    throw unusable(`${path} cannot be read: ${messageOf(error)}.`, url);
  }
  const value = tryJson(text);
  if (!isRecord(value)) throw unusable(`${path} is not a JSON object.`, url);
  return value;
}

function unusable(problem: string, url: string): RunnerError {
  return new RunnerError('invalid-request', `${problem} Mend that, and set "host" to "${url}" in it.`);
}

/** The host may be the name of a server. A wrong one does not count, as if it were not set. */
function originOf(host: unknown, servers: unknown): string {
  const named = Array.isArray(servers) ? servers.find((one) => isRecord(one) && one['name'] === host) : {};
  const address: unknown = named?.url ?? host;
  try {
    return new URL(parseAddress(typeof address === 'string' ? address : '')).origin;
  } catch {
    return new URL(defaultHost).origin;
  }
}

function pinned(auth: unknown, origin: string): unknown {
  if (Array.isArray(auth)) return auth.map((entry) => pinned(entry, origin));
  return isRecord(auth) && auth['origin'] === undefined ? { ...auth, origin } : auth;
}
