import type { Readable, Writable } from 'node:stream';

/** What the program finds around it; handed in, so that tests can be its surroundings too. */
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
  /** What a command was asked for, and nothing else. */
  readonly print: (text: string) => void;
  /** What people should know beside. */
  readonly note: (text: string) => void;
  /**
   * The first line of standard input, without its end; undefined where there is none. A person is asked for it, and
   * does not see what is typed.
   */
  readonly readLine: (question: string) => Promise<string | undefined>;
  /** Standard input and output, for a command that speaks a protocol there and prints nothing. */
  readonly protocolStreams: () => { readonly input: Readable; readonly output: Writable };
  /** Whether a person reads the notes. */
  readonly isTerminal: boolean;
  /** Aborted when the program is to end. */
  readonly ending: AbortSignal;
}
