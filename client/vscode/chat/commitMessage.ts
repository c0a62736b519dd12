import { posix } from 'node:path';
import type { CancellationToken, FileSystem, Uri } from 'vscode';
import { cutText } from '../../../protocol/base/text.ts';
import type { Attachment, ChatDelta } from '../../../protocol/messages/chat.ts';

/** The part of the editor's git extension that is used here. */
export interface Repository {
  readonly rootUri: Uri;
  readonly inputBox: { value: string };
  /** As of the last `status()`. */
  readonly state: Readonly<Record<ChangeList, readonly CommitFile[]>>;
  /** Refreshes `state`. */
  status(): Promise<void>;
  /** The staged changes of a file. */
  diffIndexWithHEAD(path: string): Promise<string>;
  /** The unstaged and staged changes of a file. */
  diffWithHEAD(path: string): Promise<string>;
}

type ChangeList = 'indexChanges' | 'mergeChanges' | 'workingTreeChanges' | 'untrackedChanges';

export interface CommitFile {
  readonly uri: Uri;
  readonly originalUri: Uri;
  readonly renameUri: Uri | undefined;
  readonly status: number;
}

/** The numbers of a file's status: a staged copy of another file, and a file that git does not track yet. */
const [copied, untracked] = [4, 7];

/** In characters and in files: what fits into a small context window. Of a new file, the beginning says enough. */
const maxText = 24_000;
const maxFiles = 200;
const maxOfNewFile = 4_000;

/** Reads a file that git does not track; undefined if it is no text, or cannot be read. */
export type ReadNewFile = (uri: Uri) => Promise<string | undefined>;

/**
 * The changes of the next commit, file by file: the staged ones, or else all. The daemon leaves out the text of private
 * files, so each part names its files. Git itself splits the changes by file, because splitting one text could go
 * wrong.
 */
export async function changesIn(
  repository: Repository,
  readNewFile: ReadNewFile = async () => undefined,
): Promise<readonly Attachment[]> {
  await repository.status();
  const { indexChanges, mergeChanges, workingTreeChanges, untrackedChanges } = repository.state;
  const isStaged = indexChanges.length > 0;
  const changes = isStaged ? indexChanges : [...mergeChanges, ...workingTreeChanges, ...untrackedChanges];
  const parts: Attachment[] = [];
  let left = maxText;
  for (const { uri, originalUri, renameUri, status } of changes.slice(0, maxFiles)) {
    const path = posix.relative(repository.rootUri.path, uri.path);
    // A name may look like a pattern, which would be about other files too.
    const pattern = `:(literal)${path}`;
    const read = async () => {
      if (status === untracked) return describeNewFile(await readNewFile(uri));
      const diff = isStaged ? repository.diffIndexWithHEAD(pattern) : repository.diffWithHEAD(pattern);
      if (uri.path === originalUri.path) return diff;
      const from = posix.relative(repository.rootUri.path, originalUri.path);
      return describeMovedFile(status === copied ? 'copied' : 'renamed', from, await diff);
    };
    const whole = left > 0 ? await read() : status === untracked ? describeNewFile() : '(changed)';
    if (whole === '') continue;
    const text = left > 0 ? cutTo(whole, left) : whole;
    left -= text.length;
    const uris = [uri, originalUri, ...(renameUri ? [renameUri] : [])].map(String);
    parts.push({ path, language: 'diff', text, uris: [...new Set(uris)], automatic: true });
  }
  return parts;
}

function describeNewFile(text = ''): string {
  return text.trim() === '' ? '(a new file)' : `(a new file)\n${cutTo(text, maxOfNewFile)}`;
}

/** Git compares one path alone, so that each line of a renamed file looks new. */
function describeMovedFile(how: 'copied' | 'renamed', from: string, diff: string): string {
  return `(${how} from ${from}; lines that did not change look new too)\n${cutTo(diff, maxOfNewFile)}`;
}

function cutTo(text: string, max: number): string {
  return text.length > max ? `${cutText(text, max)}\n(cut)` : text;
}

/** In bytes: a larger file is hardly written by hand. */
const maxNewFile = 1_000_000;

/** The number of a regular file. That of a symbolic link has one more bit, also where the link leads to a file. */
const regularFile = 1;

/**
 * What git would commit of a new file; undefined if it is no text. Git commits where a symbolic link leads, not what is
 * there, which may be private or outside of the workspace.
 */
export async function readNewFile(
  files: Pick<FileSystem, 'stat' | 'readFile'>,
  uri: Uri,
): Promise<string | undefined> {
  try {
    const { size, type } = await files.stat(uri);
    if (size > maxNewFile || type !== regularFile) return undefined;
    const text = new TextDecoder().decode(await files.readFile(uri));
    return text.includes('\0') ? undefined : text;
  } catch {
    // It may be gone by now, and its name is sent all the same.
    return undefined;
  }
}

/**
 * Shows the message in the box while it is written. If that fails, is cancelled, or gives an empty message, the box
 * gets back the user's text.
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

/** Asks for the message of a commit. The changes are attached, file by file. */
export const commitPrompt = [
  'Write the commit message for the attached changes.',
  'The first line has at most 72 characters, begins with a verb in the imperative, and says what changes for the reader of the history, not which files. If a reason or a consequence cannot be seen in the changes, add an empty line and a short paragraph. Answer with the message alone: no quotes, no code block, no remark.',
].join('\n\n');

/** The message in an answer. Small models put it into a code block or quotes all the same. */
export function toCommitMessage(answer: string): string {
  const text = answer.trim();
  const [, inside = text] = /^```[^\n]*\n([\s\S]*?)\n?```$/.exec(text) ?? [];
  return inside.trim().replace(/^"([^"\n]*)"$/, '$1');
}
