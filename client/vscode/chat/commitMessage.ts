import type { CancellationToken, Uri } from 'vscode';
import type { ChatDelta } from '../../../protocol/chat.ts';
import { toCommitMessage } from './prompts.ts';

/** Of the editor's extension for git what is used here. */
export interface Repository {
  readonly rootUri: Uri;
  readonly inputBox: { value: string };
  /** With true what is staged, else what is not. */
  diff(cached: boolean): Promise<string>;
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
