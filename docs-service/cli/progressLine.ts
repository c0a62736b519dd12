import type { IndexProgress } from '../library/libraryIndexer.ts';
import type { ProgramContext } from './command.ts';

/** A change of a few files is not worth a line. */
const indexing = { doing: 'Indexing', of: 'files', atLeast: 500 };
/** This takes much longer. */
export const embedding = { doing: 'Embedding', of: 'documents', atLeast: 2 };

/** Milliseconds between two reports in a log; a person sees each step. */
const period = 5_000;

/** Shows the progress of work: one changing line for a person, and an occasional line in a log. */
export function createProgressLine(
  { isTerminal, note, now }: Pick<ProgramContext, 'isTerminal' | 'note' | 'now'>,
  log: (text: string) => void,
  what: { readonly doing: string; readonly of: string; readonly atLeast: number } = indexing,
): (progress: IndexProgress) => void {
  let last = now();
  return ({ done, total }) => {
    if (total < what.atLeast) return;
    const text = `${what.doing}: ${done.toLocaleString('en')} of ${total.toLocaleString('en')} ${what.of}`;
    if (isTerminal) note(`\r${text}${done === total ? '\n' : ''}`);
    else if (now() - last >= period || done === total) {
      last = now();
      log(text);
    }
  };
}
