import type { Readable, Writable } from 'node:stream';
import type { OptionSpecs, ParsedCommandLine } from '../base/options.ts';
import type { IndexProgress } from '../library/libraryIndexer.ts';

/** One command of the program, with its arguments. */
export interface Command<Specs extends OptionSpecs = OptionSpecs> {
  /** What is typed after `runner-docs`, with capitals for arguments: `token revoke ID`. */
  readonly usage: string;
  readonly summary: string;
  readonly options: Specs;
  /** The number of arguments; more are refused. */
  readonly words: number;
  /** Further arguments that may be left out. */
  readonly moreWords?: number;
  run(commandLine: ParsedCommandLine<Specs>, context: ProgramContext): Promise<number>;
}

/** Derives the types of the values that a command gets from its options. */
export function defineCommand<const Specs extends OptionSpecs>(command: Command<Specs>): Command<Specs> {
  return command;
}

/** Everything that the program uses from its environment; handed in, so that tests can replace it. */
export interface ProgramContext {
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly version: string;
  /** The file of the program itself. */
  readonly program: string;
  /** The folder `docs-service` beside the program: its workers and fonts. */
  readonly parts: string;
  /** This project's own pages. */
  readonly sample: string;
  /** Milliseconds since 1970. */
  readonly now: () => number;
  /** Prints the output of a command, and nothing else. */
  readonly print: (text: string) => void;
  /** Writes what people should also know. */
  readonly note: (text: string) => void;
  /**
   * The first line of standard input, without its end; undefined if there is none. A person is asked for it, and does
   * not see what they type.
   */
  readonly readLine: (question: string) => Promise<string | undefined>;
  /** Standard input and output, for a command that speaks a protocol there and prints nothing. */
  readonly protocolStreams: () => { readonly input: Readable; readonly output: Writable };
  /** Whether a person reads the notes. */
  readonly isTerminal: boolean;
  /** Aborted when the program should end. */
  readonly ending: AbortSignal;
}

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
