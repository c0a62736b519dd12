import { lstat, realpath, stat } from 'node:fs/promises';
import { basename, dirname, isAbsolute, join, parse, relative, resolve, sep } from 'node:path';
import { type FindPrivacy, maxPath, type Privacy } from '../../base/filePrivacy.ts';
import { filesOf, Omissions } from '../../files/folderFiles.ts';
import { FileProblemError } from './fileProblem.ts';
import { reservedPart } from './reservedFiles.ts';

/** A path that the built-in tools may use. It was checked when it was found, and is checked again at each use. */
export interface WorkspaceFile {
  /** The absolute path, which leads over no link. */
  readonly path: string;
  /** The path below the folder of the workspace, with slashes, for people and models. */
  readonly name: string;
  readonly isThere: boolean;
}

/** What a path leads to, whether or not it is there. */
export interface WorkspacePlace extends WorkspaceFile {
  readonly isFolder: boolean;
  /** The folder of the workspace that has it. */
  readonly root: string;
  /** The path as a model may write it. */
  readonly given: string;
}

export type Workspace = ReturnType<typeof createWorkspace>;

export interface WorkspaceOptions {
  readonly folders: readonly string[];
  /** The user's home folders. */
  readonly homes: readonly string[];
  readonly platform: NodeJS.Platform;
  readonly findPrivacy: FindPrivacy;
  readonly now: () => number;
}

/** Deeper folders are not made by hand. */
const maxDepth = 30;
/** For all that is done with the files below a folder, in ms. */
const maxTime = 10_000;

/** The folders of a project. All that it has rejects with a {@link FileProblemError} if there is none. */
export function createWorkspace(options: WorkspaceOptions) {
  let opened: Promise<readonly string[]> | undefined;
  const folders = (): Promise<readonly string[]> => {
    opened ??= projectFolders(options).catch((error) => {
      // A folder may be there the next time.
      opened = undefined;
      throw error;
    });
    return opened;
  };
  return {
    /** The absolute paths of its folders, which lead over no link. */
    folders,
    /**
     * What a model means by a path: the file or folder as it is named, or else, if nothing is there, the one that is
     * there under a name without what models add to paths. By default the first folder.
     * @throws {FileProblemError} if the path leads out, or to a file that is not for models.
     */
    async find(path?: string): Promise<WorkspacePlace> {
      const roots = await folders();
      return findMeant(path ?? roots[0] ?? '', { ...options, roots });
    },
    /** The files below a folder, those at the top first. What git ignores is passed over, and so is what is private. */
    async *filesBelow(
      folder: WorkspacePlace,
      signal: AbortSignal,
      left = new Omissions(),
    ): AsyncGenerator<Pick<WorkspaceFile, 'name' | 'path'>> {
      const roots = await folders();
      const within = { root: folder.path, isWanted: () => true, depth: maxDepth, time: maxTime };
      for await (const { name, path } of filesOf({ ...within, now: options.now, left, signal })) {
        const refusal = await refusalOf(join(folder.path, name), path, { ...options, roots });
        if (refusal !== undefined) continue;
        yield { name: folder.name === '' ? name : `${folder.name}/${name}`, path };
      }
    },
  };
}

/** @throws {FileProblemError} if none of the folders is that of a project. */
async function projectFolders({ folders, homes }: WorkspaceOptions): Promise<readonly string[]> {
  if (folders.length === 0)
    throw new FileProblemError(
      'The built-in tools need a folder. Open that of a project, or start Runner in it.',
    );
  const homeFolders = await Promise.all(homes.map((home) => realpath(home).catch(() => home)));
  const checked = await Promise.allSettled(folders.map((folder) => projectFolder(folder, homeFolders)));
  const roots = checked.flatMap((root) => (root.status === 'fulfilled' ? root.value : []));
  const [problem] = checked.flatMap((root) => (root.status === 'rejected' ? [root.reason] : []));
  if (roots.length === 0) throw problem;
  return roots;
}

async function projectFolder(folder: string, homes: readonly string[]): Promise<string> {
  const root = await realpath(folder).catch(() => undefined);
  if (root === undefined) throw new FileProblemError(`The folder ${folder} of the workspace does not exist.`);
  const isHome = homes.some((home) => isWithin(home, root));
  const kept = reservedPart(root);
  if (!isHome && root !== parse(root).root && kept === undefined) return root;
  const why = homes.includes(root) ? ': it is your home folder' : ': it holds more than a project';
  const where = isHome || kept === undefined ? `${root}${why}` : kept;
  throw new FileProblemError(
    `The built-in tools do not work in ${where}. Start Runner in the folder of a project.`,
  );
}

interface FindOptions extends Pick<WorkspaceOptions, 'platform' | 'findPrivacy'> {
  readonly roots: readonly string[];
}

async function findMeant(path: string, options: FindOptions): Promise<WorkspacePlace> {
  const places = await Promise.all(
    [path, ...meantPaths(path, options)].map((each) =>
      findPlace(each, options).catch((error: unknown) => {
        if (error instanceof FileProblemError) return error;
        throw error;
      }),
    ),
  );
  const [asGiven, toMake] = places;
  const found = places.find((place) => 'isThere' in place && place.isThere) ?? asGiven;
  if (found === undefined || found instanceof Error) throw found;
  if (found.isThere || toMake === undefined || toMake instanceof Error) return found;
  // A new file has the path as given if that begins in a folder that is there.
  return (await isFound(join(found.root, path.split('/')[0] ?? ''))) ? found : toMake;
}

/** A path without what models put around it. A new file has the first; the others are only meant if they are there. */
function meantPaths(path: string, { roots, platform }: FindOptions): readonly string[] {
  const unquoted = path
    .trim()
    .replace(/^(["'`])(.*)\1$/s, '$2')
    .replace(/^@(?=.)/, '')
    .replace(/^file:\/\/(?=.)/, '')
    .replace(/^(\.\/)+(?=.)/, '');
  const slashed = platform === 'win32' ? unquoted : unquoted.replaceAll('\\', '/');
  const own = roots.map((root) => `${basename(root)}/`).find((name) => slashed.startsWith(name));
  const bare = slashed.slice(own === slashed ? 0 : own?.length);
  const unnumbered = [slashed, bare].map((each) => each.replace(/:\d+(:\d+)?$/, ''));
  // A model may take the folder of the project for the root of all files.
  return [bare, slashed, ...unnumbered, ...unnumbered.map((each) => each.replace(/^\/+(?=.)/, ''))];
}

async function findPlace(path: string, options: FindOptions): Promise<WorkspacePlace> {
  const named = await namedPath(path, options);
  const { real, isThere } = await realPathOf(named);
  const refusal = await refusalOf(named, real, options);
  if (refusal !== undefined) throw new FileProblemError(`${path} is ${refusal}`);
  const root = rootOf(real, options) ?? real;
  const name = relative(root, real).replaceAll(sep, '/');
  const isFolder = isThere && (await stat(real)).isDirectory();
  return { path: real, name, isThere, isFolder, root, given: root === options.roots[0] ? name || '.' : real };
}

/** Why models neither see nor change what is at a path, of which `real` leads over no link; undefined if they do. */
async function refusalOf(named: string, real: string, options: FindOptions): Promise<string | undefined> {
  const { roots, findPrivacy } = options;
  const root = rootOf(real, options);
  if (root === undefined)
    return `outside of the workspace. Only files in ${roots.join(' and ')} are read and changed here.`;
  const within = roots.filter((folder) => isWithin(named, folder)).map((folder) => relative(folder, named));
  const kept = [relative(root, real), ...within].map(reservedPart).find(Boolean);
  if (kept !== undefined) return `not read or changed here, because nothing in ${kept} is.`;
  const privacy = (await findPrivacy(named)) ?? (named === real ? undefined : await findPrivacy(real));
  return privacy && `not read or changed here, because ${whyPrivate[privacy]}`;
}

const whyPrivate: Readonly<Record<Privacy, string>> = {
  secret: 'its name says that it may hold a secret. The user can open it.',
  excluded: 'the user excluded it (runner.exclude or .runnerignore).',
};

function rootOf(real: string, { roots }: FindOptions): string | undefined {
  return roots.find((folder) => isWithin(real, folder));
}

/** An absolute path. A relative one is below the first folder that has it, or else below the first one. */
async function namedPath(path: string, { roots, platform }: FindOptions): Promise<string> {
  // A colon within a path of Windows leads to another stream of the file.
  const isStream = platform === 'win32' && path.slice(2).includes(':');
  if (path === '' || path.includes('\0') || path.length > maxPath || isStream)
    throw new FileProblemError('This is not the path of a file. Name a file of the workspace.');
  if (isAbsolute(path)) return resolve(path);
  const places = roots.map((root) => join(root, path));
  for (const place of places) if (await isFound(place)) return place;
  return places[0] ?? path;
}

/** Follows links, also those of the folders above a file that does not exist yet. */
async function realPathOf(path: string): Promise<{ readonly real: string; readonly isThere: boolean }> {
  try {
    return { real: await realpath(path), isThere: true };
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === 'ENOTDIR')
      throw new FileProblemError(`${path} cannot exist, because a part of it is a file and no folder.`);
    if (code !== 'ENOENT')
      throw new FileProblemError(`${path} cannot be reached (${code ?? 'unknown error'}).`);
    if (await isFound(path))
      throw new FileProblemError(`${basename(path)} is a link to a file that does not exist.`);
    const above = await realPathOf(dirname(path));
    return { real: join(above.real, basename(path)), isThere: false };
  }
}

/** Also if it is a link that leads nowhere. */
export function isFound(path: string): Promise<boolean> {
  return lstat(path).then(
    () => true,
    () => false,
  );
}

/** Whether a path is a folder or below it. */
function isWithin(path: string, folder: string): boolean {
  const rest = relative(folder, path);
  return rest === '' || (rest !== '..' && !rest.startsWith(`..${sep}`) && !isAbsolute(rest));
}
