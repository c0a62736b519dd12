import { lstat, realpath, stat } from 'node:fs/promises';
import { basename, dirname, isAbsolute, join, parse, relative, resolve, sep } from 'node:path';
import { type FindPrivacy, maxPath, type Privacy } from '../../base/filePrivacy.ts';
import { filesOf, Omissions } from '../../files/folderFiles.ts';
import { FileProblemError } from './fileProblem.ts';

/** A file of the project, also one that is not there yet. */
export interface ProjectFile {
  /** The absolute path, which leads over no link. */
  readonly path: string;
  /** The path below the folder of the workspace, with slashes, for people and models. */
  readonly name: string;
}

/** A path that the built-in tools may use. It was checked when it was found, and is checked again at each use. */
export interface WorkspaceFile extends ProjectFile {
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

interface WorkspaceOptions {
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
/** At most this many files of a name are named. */
const maxNamed = 5;

/** The folders of a project. All that it has rejects with a {@link FileProblemError} if there is none. */
export class Workspace {
  readonly #options: WorkspaceOptions;
  #roots: readonly string[] | undefined;

  constructor(options: WorkspaceOptions) {
    this.#options = options;
  }

  /** The absolute paths of its folders, which lead over no link. */
  async folders(): Promise<readonly string[]> {
    // A folder may be there the next time.
    this.#roots ??= await projectFolders(this.#options);
    return this.#roots;
  }

  /**
   * What a model means by a path: the file or folder as it is named, or else, if nothing is there, the one that is
   * there under a name without what models add to paths. By default the first folder.
   * @throws {FileProblemError} if the path leads out, or to a file that is not for models.
   */
  async find(path?: string): Promise<WorkspacePlace> {
    const roots = await this.folders();
    const given = path ?? roots[0] ?? '';
    const meant = meantPaths(given, roots, this.#options.platform);
    for (const each of [given, ...meant]) {
      const place = await this.tryFindNamed(each);
      if (place?.isThere) return place;
    }
    const asGiven = await this.#findNamed(given);
    // A new file has the path as given if that begins in a folder that is there.
    if (await isFound(join(asGiven.root, given.split('/')[0] ?? ''))) return asGiven;
    return (await this.tryFindNamed(meant[0] ?? given)) ?? asGiven;
  }

  /** The file or folder exactly as it is named; undefined if it is not for models. */
  async tryFindNamed(path: string): Promise<WorkspacePlace | undefined> {
    try {
      return await this.#findNamed(path);
    } catch (error) {
      if (error instanceof FileProblemError) return undefined;
      throw error;
    }
  }

  /** The files below a folder, those at the top first. What git ignores is passed over, and so is what is private. */
  async *filesBelow(
    folder: WorkspacePlace,
    signal: AbortSignal,
    left = new Omissions(),
  ): AsyncGenerator<ProjectFile> {
    const within = { root: folder.path, isWanted: () => true, depth: maxDepth, time: maxTime };
    for await (const { name, path } of filesOf({ ...within, now: this.#options.now, left, signal })) {
      if ((await this.#refusalOf(join(folder.path, name), path)) !== undefined) continue;
      yield { name: folder.name === '' ? name : `${folder.name}/${name}`, path };
    }
  }

  /** Names the files of that name elsewhere: which of them is meant, the model says. */
  async nothingAt({ name }: WorkspacePlace, signal: AbortSignal): Promise<FileProblemError> {
    const others: string[] = [];
    const sought = `/${basename(name)}`.toLowerCase();
    for await (const file of this.filesBelow(await this.find(), signal)) {
      if (`/${file.name}`.toLowerCase().endsWith(sought)) others.push(file.name);
      if (others.length === maxNamed) break;
    }
    const hint =
      others.length === 0 ? 'List the files, or search for a word of it.' : `There is ${others.join(', ')}.`;
    return new FileProblemError(`There is no file or folder ${name}. ${hint}`);
  }

  async #findNamed(path: string): Promise<WorkspacePlace> {
    const roots = await this.folders();
    const named = await this.#absolutePath(path);
    const real = await realPathOf(named);
    const refusal = await this.#refusalOf(named, real);
    if (refusal !== undefined) throw new FileProblemError(`${path} is ${refusal}`);
    const root = rootOf(real, roots) ?? real;
    const name = relative(root, real).replaceAll(sep, '/');
    const found = await stat(real).catch(() => undefined);
    const [isThere, isFolder] = [found !== undefined, found?.isDirectory() === true];
    return { path: real, name, isThere, isFolder, root, given: root === roots[0] ? name || '.' : real };
  }

  /** A relative path is below the first folder that has it, or else below the first one. */
  async #absolutePath(path: string): Promise<string> {
    // A colon within a path of Windows leads to another stream of the file.
    const isStream = this.#options.platform === 'win32' && path.slice(2).includes(':');
    if (path === '' || path.includes('\0') || path.length > maxPath || isStream)
      throw new FileProblemError('This is not the path of a file. Name a file of the workspace.');
    if (isAbsolute(path)) return resolve(path);
    const places = (await this.folders()).map((root) => join(root, path));
    for (const place of places) if (await isFound(place)) return place;
    return places[0] ?? path;
  }

  /** Why models neither see nor change what is at a path, of which `real` leads over no link; undefined if they do. */
  async #refusalOf(named: string, real: string): Promise<string | undefined> {
    const { findPrivacy } = this.#options;
    const roots = await this.folders();
    const root = rootOf(real, roots);
    if (root === undefined)
      return `outside of the workspace. Only files in ${roots.join(' and ')} are read and changed here.`;
    const within = roots.filter((folder) => isWithin(named, folder)).map((folder) => relative(folder, named));
    const kept = [relative(root, real), ...within].map(reservedPart).find(Boolean);
    if (kept !== undefined) return `not read or changed here, because nothing in ${kept} is.`;
    const privacy = (await findPrivacy(named)) ?? (named === real ? undefined : await findPrivacy(real));
    return privacy && `not read or changed here, because ${whyPrivate[privacy]}`;
  }
}

const whyPrivate: Readonly<Record<Privacy, string>> = {
  secret: 'its name says that it may hold a secret. The user can open it.',
  excluded: 'the user excluded it (runner.exclude or .runnerignore).',
};

/** @throws {FileProblemError} if none of the folders is that of a project. */
async function projectFolders({ folders, homes }: WorkspaceOptions): Promise<readonly string[]> {
  const homeFolders = await Promise.all(homes.map((home) => realpath(home).catch(() => home)));
  const found = await Promise.all(folders.map((folder) => projectFolder(folder, homeFolders)));
  const roots = found.filter((root) => typeof root === 'string');
  if (roots.length > 0) return roots;
  const none = 'The built-in tools need a folder. Open that of a project, or start Runner in it.';
  throw found[0] ?? new FileProblemError(none);
}

async function projectFolder(folder: string, homes: readonly string[]): Promise<string | FileProblemError> {
  const root = await realpath(folder).catch(() => undefined);
  if (root === undefined)
    return new FileProblemError(`The folder ${folder} of the workspace does not exist.`);
  const isLarge = root === parse(root).root || homes.some((home) => isWithin(home, root));
  const why = homes.includes(root) ? 'it is your home folder' : 'it holds more than a project';
  const where = isLarge ? `${root}: ${why}` : reservedPart(root);
  if (where === undefined) return root;
  return new FileProblemError(
    `The built-in tools do not work in ${where}. Start Runner in the folder of a project.`,
  );
}

/** A path without what models put around it. A new file has the first; the others are only meant if they are there. */
function meantPaths(path: string, roots: readonly string[], platform: NodeJS.Platform): readonly string[] {
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

function rootOf(real: string, roots: readonly string[]): string | undefined {
  return roots.find((folder) => isWithin(real, folder));
}

/** Follows links, also those of the folders above a file that does not exist yet. */
async function realPathOf(path: string): Promise<string> {
  try {
    return await realpath(path);
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === 'ENOTDIR')
      throw new FileProblemError(`${path} cannot exist, because a part of it is a file and no folder.`);
    if (code !== 'ENOENT')
      throw new FileProblemError(`${path} cannot be reached (${code ?? 'unknown error'}).`);
    if (await isFound(path))
      throw new FileProblemError(`${basename(path)} is a link to a file that does not exist.`);
    return join(await realPathOf(dirname(path)), basename(path));
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
