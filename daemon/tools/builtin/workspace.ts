import { lstat, realpath, stat } from 'node:fs/promises';
import { basename, dirname, isAbsolute, join, parse, relative, resolve, sep } from 'node:path';
import { type FindPrivacy, maxPath } from '../../base/filePrivacy.ts';

/** Why a file is not read or not changed. The message is a sentence for the model, which says what to do instead. */
export class FileProblemError extends Error {
  override readonly name = 'FileProblemError';
}

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
}

export type Workspace = Awaited<ReturnType<typeof openWorkspace>>;

export interface WorkspaceOptions {
  readonly folders: readonly string[];
  /** The user's home folders. */
  readonly homes: readonly string[];
  readonly platform: NodeJS.Platform;
  readonly findPrivacy: FindPrivacy;
}

/** @throws {FileProblemError} if none of the folders is that of a project. */
export async function openWorkspace({ folders, homes, ...options }: WorkspaceOptions) {
  if (folders.length === 0)
    throw new FileProblemError(
      'The built-in tools need a folder. Open that of a project, or start Runner in it.',
    );
  const homeFolders = await Promise.all(homes.map((home) => realpath(home).catch(() => home)));
  const checked = await Promise.allSettled(folders.map((folder) => projectFolder(folder, homeFolders)));
  const roots = checked.flatMap((root) => (root.status === 'fulfilled' ? root.value : []));
  const [problem] = checked.flatMap((root) => (root.status === 'rejected' ? [root.reason] : []));
  if (roots.length === 0) throw problem;
  return {
    /** The absolute paths of its folders, which lead over no link. */
    folders: roots,
    /**
     * What a model means by a path: the file or folder as it is named, or else, if nothing is there, the one that is
     * there under a name without what models add to paths.
     * @throws {FileProblemError} if the path leads out, or to a file that is not for models.
     */
    find: (path: string) => findMeant(path, { ...options, roots }),
    /** The path of a place as a model may write it. */
    pathOf: ({ name, path, root }: WorkspacePlace): string => (root === roots[0] ? name || '.' : path),
    /** Whether models may see a file that is there: `named` is its path, `real` the same without links. */
    async shows(named: string, real: string): Promise<boolean> {
      return (await refusalOf({ path: named, named, real }, { ...options, roots })) === undefined;
    },
  };
}

async function projectFolder(folder: string, homes: readonly string[]): Promise<string> {
  const root = await realpath(folder).catch(() => undefined);
  if (root === undefined) throw new FileProblemError(`The folder ${folder} of the workspace does not exist.`);
  const isHome = homes.some((home) => isWithin(home, root));
  if (isHome || root === parse(root).root)
    throw new FileProblemError(
      `The built-in tools do not work in ${root}: ${homes.includes(root) ? 'it is your home folder' : 'it holds more than a project'}. Start Runner in the folder of a project.`,
    );
  const kept = reservedPart(root);
  if (kept === undefined) return root;
  throw new FileProblemError(
    `The built-in tools do not work in ${kept}. Start Runner in the folder of a project.`,
  );
}

interface FindOptions extends Pick<WorkspaceOptions, 'platform' | 'findPrivacy'> {
  readonly roots: readonly string[];
}

async function findMeant(path: string, options: FindOptions): Promise<WorkspacePlace> {
  const asGiven = await tryPlace(path, options);
  if (!(asGiven instanceof Error) && asGiven.isThere) return asGiven;
  if (asGiven instanceof Error && path.length > maxPath) throw asGiven;
  const { bare, others } = meantPaths(path, options);
  const places = await Promise.all([bare, ...others].map((meant) => tryPlace(meant, options)));
  const found = places.find((place) => !(place instanceof Error) && place.isThere) ?? asGiven;
  if (found instanceof Error) throw found;
  const [toMake] = places;
  if (found.isThere || toMake === undefined || toMake instanceof Error) return found;
  // A new file has the path as given if that begins in a folder that is there.
  return (await isFound(join(found.root, path.split('/')[0] ?? ''))) ? found : toMake;
}

async function tryPlace(path: string, options: FindOptions): Promise<WorkspacePlace | Error> {
  return findPlace(path, options).catch((error: unknown) => {
    if (error instanceof FileProblemError) return error;
    throw error;
  });
}

/** A path without what models put around it; `others` are only meant if something is there. */
function meantPaths(path: string, { roots, platform }: FindOptions) {
  const unquoted = path
    .trim()
    .replace(/^(["'`])(.*)\1$/s, '$2')
    .replace(/^@(?=.)/, '')
    .replace(/^file:\/\/(?=.)/, '')
    .replace(/^(\.\/)+(?=.)/, '');
  const slashed = platform === 'win32' ? unquoted : unquoted.replaceAll('\\', '/');
  const own = roots.map((root) => `${basename(root)}/`).find((name) => slashed.startsWith(name));
  const bare = own === undefined || own.length === slashed.length ? slashed : slashed.slice(own.length);
  const unnumbered = [slashed, bare].map((each) => each.replace(/:\d+(:\d+)?$/, ''));
  // A model may take the folder of the project for the root of all files.
  const rooted = unnumbered.map((each) => each.replace(/^\/+(?=.)/, ''));
  return { bare, others: [slashed, ...unnumbered, ...rooted] };
}

async function findPlace(path: string, options: FindOptions): Promise<WorkspacePlace> {
  const { roots } = options;
  const named = await namedPath(path, options);
  const { real, isThere } = await realPathOf(named);
  const refusal = await refusalOf({ path, named, real }, options);
  if (refusal !== undefined) throw new FileProblemError(refusal);
  const root = rootOf(real, roots) ?? real;
  const name = relative(root, real).replaceAll(sep, '/');
  const isFolder = isThere && (await stat(real)).isDirectory();
  return { path: real, name, isThere, isFolder, root };
}

interface CheckedPath {
  /** As it was given. */
  readonly path: string;
  readonly named: string;
  /** Without links. */
  readonly real: string;
}

/** Why models neither see nor change what is at a path; undefined if they do. */
async function refusalOf(
  { path, named, real }: CheckedPath,
  { roots, findPrivacy }: FindOptions,
): Promise<string | undefined> {
  const root = rootOf(real, roots);
  if (root === undefined)
    return `${path} is outside of the workspace. Only files in ${roots.join(' and ')} are read and changed here.`;
  const within = roots.filter((folder) => isWithin(named, folder)).map((folder) => relative(folder, named));
  const kept = [relative(root, real), ...within].map(reservedPart).find(Boolean);
  if (kept !== undefined) return `${path} is not read or changed here, because nothing in ${kept} is.`;
  const privacy = (await findPrivacy(named)) ?? (named === real ? undefined : await findPrivacy(real));
  if (privacy === undefined) return undefined;
  return privacy === 'secret'
    ? `${path} is not read or changed here, because its name says that it may hold a secret. The user can open it.`
    : `${path} is not read or changed here, because the user excluded it (runner.exclude or .runnerignore).`;
}

function rootOf(real: string, roots: readonly string[]): string | undefined {
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

/** What programs run or obey without a question is not for models: version control, and the settings of editors. */
const reserved =
  /^(\.git|\.hg|\.svn|\.jj|\.bzr|\.vscode|\.vscode-server|\.idea|\.vs|\.zed|\.fleet|\.cursor|\.runner|\.runnerignore|\.exrc|\.nvimrc|\.nvim\.lua|\.vimrc)$/;

/** What programs run, or what models and tools obey, once the user starts them. In lower case. */
const decisiveFile =
  /^(package\.json|package-lock\.json|npm-shrinkwrap\.json|pnpm-lock\.yaml|bun\.lockb|go\.sum|.*\.lock|(gnu)?makefile|.*\.config\..*|pyproject\.toml|setup\.py|conftest\.py|cargo\.toml|build\.rs|cmakelists\.txt|dockerfile(\..*)?|agents\.md|claude\.md)$/;
const decisiveFolder = /^\.(github|husky)$/;

/** Whether the user is asked about each change of a file, in every mode: `name` is its path below the workspace. */
export function decidesWhatRuns(name: string): boolean {
  const parts = name.split('/').map(plainName);
  return decisiveFile.test(parts.at(-1) ?? '') || parts.some((part) => decisiveFolder.test(part));
}

/** The first part of a path that is reserved; undefined if none is. */
function reservedPart(path: string): string | undefined {
  return path.split(/[/\\]/).find((part) => reserved.test(plainName(part)));
}

/** File systems take some names as the same: in upper case, with marks that nobody sees, or with dots at the end. */
function plainName(part: string): string {
  return part
    .normalize('NFKC')
    .replace(/\p{Cf}/gu, '')
    .toLowerCase()
    .replace(/(?<=.)[. ]+$/, '');
}
