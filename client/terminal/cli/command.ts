import type { CommandLine } from './commandLine.ts';
import { commonFlags, type FlagName, flagOf } from './flags.ts';
import type { Surroundings } from './streams.ts';

/** What the program can do for a word on its command line. */
export interface Command {
  readonly usage: string;
  readonly summary: string;
  /** Under which title the help lists it; without one it is for programs and not listed. */
  readonly group?: 'Talking' | 'Models' | 'Memory' | 'This machine';
  /** Other words for it, which people of other tools type. */
  readonly aliases?: readonly string[];
  /** How many words it takes; without it none. */
  readonly words?: WordCount;
  /** Flags of its own, some with a meaning of their own. */
  readonly flags?: readonly (FlagName | readonly [FlagName, string])[];
  /** For its help. */
  readonly examples?: readonly string[];
  /** What it takes away cannot be had back: nobody is offered it for a mistyped word. */
  readonly isDestructive?: true;
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

/** The command that a word means. */
export function findCommand(
  commands: Commands,
  word: string,
): { readonly name: string; readonly command: Command } | undefined {
  const own = commands.get(word);
  if (own) return { name: word, command: own };
  const [name, command] = [...commands].find(([, { aliases = [] }]) => aliases.includes(word)) ?? [];
  return name === undefined || command === undefined ? undefined : { name, command };
}

/** The flags that it takes, its own first, each with what it means. */
export function flagsOf({ flags = [] }: Command): ReadonlyMap<FlagName, string> {
  return new Map(
    [...flags, ...commonFlags].map((flag): readonly [FlagName, string] =>
      typeof flag === 'string' ? [flag, flagOf(flag).summary] : flag,
    ),
  );
}
