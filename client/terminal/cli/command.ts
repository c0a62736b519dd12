import type { StdioToolServer } from '../../../protocol/messages/tools.ts';
import type { DaemonProcess } from '../daemon/daemon.ts';
import type { CommandLine } from './commandLine.ts';
import { commonFlags, type FlagName, flagOf } from './flags.ts';
import type { Terminal } from './terminal.ts';

/** A command of the program. */
export interface TerminalCommand {
  readonly usage: string;
  readonly summary: string;
  /** The title under which the help lists it. Commands for programs have none and are not listed. */
  readonly group?: 'Talking' | 'Models' | 'Memory' | 'This machine';
  /** Other names, which people know from other tools. */
  readonly aliases?: readonly string[];
  /** What each of its words is for. */
  readonly wordSummaries?: ReadonlyMap<string, string>;
  /** How many words it takes. Absent: none. */
  readonly words?: WordCount;
  /** Its own flags, some with a summary of their own. */
  readonly flags?: readonly (FlagName | readonly [FlagName, string])[];
  /** For its help. */
  readonly examples?: readonly string[];
  /** Destructive: never suggested for a typo. */
  readonly isDestructive?: true;
  /** Returns the exit code. */
  readonly run: (context: CommandContext) => Promise<number>;
}

/** What a command is run with. */
export interface CommandContext {
  readonly terminal: Terminal;
  readonly commandLine: CommandLine;
  readonly program: Program;
}

/** Tells what came of a command: an object with `--json`, or else words for a person. Returns the exit code. */
export async function tell(
  { terminal: { stdout, stderr }, commandLine: { json } }: CommandContext,
  event: { readonly event: 'done' | 'cancelled'; readonly [detail: string]: unknown },
  words: string,
): Promise<number> {
  await (json ? stdout.writeJson(event) : stderr.writeText(words));
  return event.event === 'done' ? 0 : 130;
}

/** What is installed. */
export interface Program {
  readonly version: string;
  /** Starts `runnerd --stdio` with further flags. */
  readonly spawnDaemon: (flags: readonly string[]) => DaemonProcess;
  /** The tool server for the pages of Runner, if they are installed. */
  readonly documents?: StdioToolServer;
  /** Opens an address in the user's browser, if there is one. */
  readonly openAddress?: (url: string) => void;
  /** Lets the user change a text in an editor of their own, which has the whole terminal meanwhile. */
  readonly editText?: (text: string) => Promise<string>;
  /** Hands a text to the clipboard of the system. False if no program there takes it. */
  readonly copyText?: (text: string) => Promise<boolean>;
}

export interface WordCount {
  readonly min: number;
  readonly max: number;
  /** What a word is, such as `the name of a model`. */
  readonly meaning: string;
  /** What a shell offers for the first word. */
  readonly offers?: readonly string[];
}

export type TerminalCommands = ReadonlyMap<string, TerminalCommand>;

/** The commands that people type. */
export function listedCommands(commands: TerminalCommands): readonly (readonly [string, TerminalCommand])[] {
  return [...commands].filter(([, { group }]) => group !== undefined);
}

/** The command with this name or alias. */
export function findCommand(
  commands: TerminalCommands,
  word: string,
): { readonly name: string; readonly command: TerminalCommand } | undefined {
  const own = commands.get(word);
  if (own) return { name: word, command: own };
  const [name, command] = [...commands].find(([, { aliases = [] }]) => aliases.includes(word)) ?? [];
  return name === undefined || command === undefined ? undefined : { name, command };
}

/** The flags that it takes, its own first, each with its summary. */
export function flagsOf({ flags = [] }: TerminalCommand): ReadonlyMap<FlagName, string> {
  return new Map(
    [...flags, ...commonFlags].map((flag): readonly [FlagName, string] =>
      typeof flag === 'string' ? [flag, flagOf(flag).summary] : flag,
    ),
  );
}
