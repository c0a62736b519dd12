import type { CommandLine, OptionSpecs } from '../options.ts';
import type { Surroundings } from '../surroundings.ts';

/** One word that the program understands, with what may follow it. */
export interface Command<Specs extends OptionSpecs = OptionSpecs> {
  /** What is typed after `runner-docs`, with words for what stands there: `token revoke ID`. */
  readonly usage: string;
  readonly summary: string;
  readonly options: Specs;
  /** How many words follow; more are refused. */
  readonly words: number;
  run(commandLine: CommandLine<Specs>, surroundings: Surroundings): Promise<number>;
}

/** Lets a command's options decide the types of the values that it is run with. */
export function defineCommand<const Specs extends OptionSpecs>(command: Command<Specs>): Command<Specs> {
  return command;
}
