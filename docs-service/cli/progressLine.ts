import type { IndexProgress } from '../library/libraryIndexer.ts';
import type { ProgramContext } from './command.ts';

/** Milliseconds between two reports in a log; a person sees each step. */
const period = 5_000;

/** Shows the progress of indexing: one changing line for a person, and an occasional line in a log. */
export function createProgressLine(
  { isTerminal, note, now }: Pick<ProgramContext, 'isTerminal' | 'note' | 'now'>,
  log: (text: string) => void,
): (progress: IndexProgress) => void {
  let last = now();
  return ({ done, total }) => {
    // A change of a few files is not worth a line.
    if (total < 500) return;
    const text = `Indexing: ${done.toLocaleString('en')} of ${total.toLocaleString('en')} files`;
    if (isTerminal) note(`\r${text}${done === total ? '\n' : ''}`);
    else if (now() - last >= period || done === total) {
      last = now();
      log(text);
    }
  };
}
