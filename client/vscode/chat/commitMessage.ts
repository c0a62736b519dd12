import { posix } from 'node:path';
import type { CancellationToken, Uri } from 'vscode';
import type { Attachment, ChatDelta } from '../../../protocol/messages/chat.ts';
import { toCommitMessage } from './prompts.ts';

/** Of the editor's extension for git what is used here. */
export interface Repository {
  readonly rootUri: Uri;
  readonly inputBox: { value: string };
  /** As it was when git was asked last. */
  readonly state: Readonly<Record<ChangeList, readonly Change[]>>;
  /** Asks git again. */
  status(): Promise<void>;
  /** What is staged of a file. */
  diffIndexWithHEAD(path: string): Promise<string>;
  /** What is in the folder. */
  diffWithHEAD(path: string): Promise<string>;
}

type ChangeList = 'indexChanges' | 'mergeChanges' | 'workingTreeChanges' | 'untrackedChanges';

export interface Change {
  readonly uri: Uri;
  readonly originalUri: Uri;
  readonly renameUri: Uri | undefined;
  readonly status: number;
}

/** The number of the status of a file that git does not track yet. */
const untracked = 7;

/** What a small window has room for, in characters of changes and in files. */
const mostText = 24_000;
const mostFiles = 200;

/**
 * What the next commit changes, file by file: what is staged, or else what is in the folder. The daemon leaves out the
 * text of private files, so each part says which files it is about. Git alone splits the changes: a text about several
 * files could be split wrongly.
 */
export async function changesIn(repository: Repository): Promise<readonly Attachment[]> {
  await repository.status();
  const { indexChanges, mergeChanges, workingTreeChanges, untrackedChanges } = repository.state;
  const isStaged = indexChanges.length > 0;
  const changes = isStaged ? indexChanges : [...mergeChanges, ...workingTreeChanges, ...untrackedChanges];
  const parts: Attachment[] = [];
  let left = mostText;
  for (const { uri, originalUri, renameUri, status } of changes.slice(0, mostFiles)) {
    const path = posix.relative(repository.rootUri.path, uri.path);
    // A name may look like a pattern, which would be about other files too.
    const pattern = `:(literal)${path}`;
    const read = () => (isStaged ? repository.diffIndexWithHEAD(pattern) : repository.diffWithHEAD(pattern));
    const whole = status === untracked ? '(a new file)' : left > 0 ? await read() : '(changed)';
    if (whole === '') continue;
    const text = whole.length > left && left > 0 ? `${whole.slice(0, left)}\n(cut)` : whole;
    left -= text.length;
    const uris = [uri, originalUri, ...(renameUri ? [renameUri] : [])].map(String);
    parts.push({ path, language: 'diff', text, uris: [...new Set(uris)], automatic: true });
  }
  return parts;
}

/** The one that the button belongs to, or the only one. With several, the user is asked; undefined is none. */
export async function repositoryAt(
  root: Uri | undefined,
  repositories: readonly Repository[],
  pick: (repositories: readonly Repository[]) => PromiseLike<Repository | undefined>,
): Promise<Repository | undefined> {
  const itsOwn = root && repositories.find(({ rootUri }) => rootUri.toString() === root.toString());
  return itsOwn ?? (repositories.length > 1 ? pick(repositories) : repositories[0]);
}

/**
 * Shows the message in the box while it is written. If it fails, is cancelled or is empty, the box gets back what the
 * user had typed.
 */
export async function writeInto(
  box: Repository['inputBox'],
  ask: (take: (delta: ChatDelta) => void) => Promise<unknown>,
  token: Pick<CancellationToken, 'isCancellationRequested'>,
): Promise<void> {
  const typed = box.value;
  let answer = '';
  let isWhole = false;
  try {
    await ask((delta) => {
      if (delta.kind !== 'text' || token.isCancellationRequested) return;
      answer += delta.text;
      box.value = toCommitMessage(answer);
    });
    isWhole = !token.isCancellationRequested && toCommitMessage(answer) !== '';
  } catch (error) {
    if (!token.isCancellationRequested) throw error;
  } finally {
    if (!isWhole) box.value = typed;
  }
}
