import { join } from 'node:path';
import { filesOf, Omissions } from '../../files/folderFiles.ts';
import type { Workspace, WorkspacePlace } from './workspace.ts';

/** A file of the project that a model may see. */
export interface ProjectFile {
  /** Relative to the folder of the workspace, with slashes. */
  readonly name: string;
  /** Where it is, without links. */
  readonly path: string;
}

export interface ProjectOptions {
  readonly workspace: Workspace;
  readonly now: () => number;
}

/** Deeper folders are not made by hand. */
const maxDepth = 30;
/** For all that is done with the files, in ms. */
const maxTime = 10_000;

/** The files below a folder, those at the top first. What git ignores is passed over, and so is what is private. */
export async function* projectFiles(
  folder: WorkspacePlace,
  { workspace, now }: ProjectOptions,
  { left, signal }: { readonly left: Omissions; readonly signal: AbortSignal },
): AsyncGenerator<ProjectFile> {
  const walk = { root: folder.path, isWanted: () => true, depth: maxDepth, time: maxTime, left, now, signal };
  for await (const { name, path } of filesOf(walk)) {
    if (!(await workspace.shows(join(folder.path, name), path))) continue;
    yield { name: folder.name === '' ? name : `${folder.name}/${name}`, path };
  }
}

/** At most this many files of a name are named. */
const maxNamed = 5;

/** The files with a name, wherever they are, for a model that has the wrong folder. */
export async function filesNamed(
  name: string,
  project: ProjectOptions,
  signal: AbortSignal,
): Promise<readonly string[]> {
  const root = await project.workspace.find(project.workspace.folders[0] ?? '');
  const found: string[] = [];
  for await (const file of projectFiles(root, project, { left: new Omissions(), signal })) {
    if (`/${file.name}`.toLowerCase().endsWith(`/${name.toLowerCase()}`)) found.push(file.name);
    if (found.length === maxNamed) break;
  }
  return found;
}
