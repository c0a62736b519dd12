import type { CommandLine, OptionSpecs } from '../base/options.ts';
import type { Surroundings } from '../cli/surroundings.ts';

/** One command of the program, with its arguments. */
export interface Command<Specs extends OptionSpecs = OptionSpecs> {
  /** What is typed after `runner-docs`, with capitals for arguments: `token revoke ID`. */
  readonly usage: string;
  readonly summary: string;
  readonly options: Specs;
  /** The number of arguments; more are refused. */
  readonly words: number;
  run(commandLine: CommandLine<Specs>, surroundings: Surroundings): Promise<number>;
}

/** Derives the types of the values that a command gets from its options. */
export function defineCommand<const Specs extends OptionSpecs>(command: Command<Specs>): Command<Specs> {
  return command;
}
