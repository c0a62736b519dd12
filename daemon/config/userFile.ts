import { statSync } from 'node:fs';
import { emptyUserConfig, parseUserConfig, type UserConfig, unusableUserConfig } from './userConfig.ts';

/** The user's own configuration over the life of a daemon. Nobody else reads the file. */
export interface UserFile {
  readonly path: string;
  /** The client has settings and tokens of its own. */
  readonly clientHasSettings: boolean;
  /** What it said when the daemon started; nothing where the client has settings of its own. */
  readonly atStart: UserConfig;
  /** What it says now. Each problem is in one result alone: the first that has it. */
  read(): Promise<UserConfig>;
}

export interface UserFileOptions {
  readonly path: string;
  /** Then only what holds for every client counts, and the file is not read before it is wanted. */
  readonly clientHasSettings: boolean;
}

/** No configuration is larger. */
const maxBytes = 1024 * 1024;

export async function openUserFile({ path, clientHasSettings }: UserFileOptions): Promise<UserFile> {
  const known = new Set<string>();
  const read = async () => {
    const config = await readUserConfig(path, clientHasSettings);
    const problems = config.problems.filter((problem) => !known.has(problem));
    for (const problem of problems) known.add(problem);
    return { ...config, problems };
  };
  return { path, clientHasSettings, read, atStart: clientHasSettings ? emptyUserConfig : await read() };
}

/** No file says nothing. */
async function readUserConfig(path: string, clientHasSettings: boolean): Promise<UserConfig> {
  let text: string;
  try {
    // Most users have none: then this throws, and nothing is loaded to read it.
    statSync(path);
    const { readRegularFile } = await import('../base/regularFile.ts');
    text = await readRegularFile(path, maxBytes);
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException;
    if (code === 'ENOENT' || code === 'ENOTDIR') return emptyUserConfig;
    return unusableUserConfig(`The configuration ${path} cannot be read: ${message}.`);
  }
  return parseUserConfig(text, { path, clientHasSettings });
}
