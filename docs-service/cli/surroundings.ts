import type { Readable, Writable } from 'node:stream';

/** Everything that the program uses from its environment; handed in, so that tests can replace it. */
export interface Surroundings {
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
