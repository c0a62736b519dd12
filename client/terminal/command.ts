import type { CommandLine } from './commandLine.ts';
import type { Surroundings } from './streams.ts';

/** What the program can do for a word on its command line. */
export interface Command {
  readonly usage: string;
  readonly summary: string;
  /** Under which title the help lists it; without one it is for programs and not listed. */
  readonly group?: 'Talking' | 'Models' | 'Memory' | 'This machine';
  /** How many words it takes; without it none. */
  readonly words?: WordCount;
  /** Flags of its own, for the completion in a shell. */
  readonly flags?: readonly string[];
  /** Returns the exit code. */
  readonly run: (surroundings: Surroundings, commandLine: CommandLine) => Promise<number>;
}

export interface WordCount {
  readonly least: number;
  readonly most: number;
  /** What a word is, such as `the name of a model`. */
  readonly meaning: string;
  /** What a shell may offer for one. */
  readonly offers?: Offered;
  /** And for those behind the first. */
  readonly further?: Offered;
}

/** Words, or the names of what there is. */
export type Offered = 'models' | 'sessions' | readonly string[];

export type Commands = ReadonlyMap<string, Command>;

/** Those that people type. */
export function listedCommands(commands: Commands): readonly (readonly [string, Command])[] {
  return [...commands].filter(([, { group }]) => group !== undefined);
}
