import { nearestNames } from '../../../protocol/base/editDistance.ts';
import { showLine } from '../../../protocol/base/text.ts';
import { commands } from '../commands/commands.ts';
import {
  type CommandContext,
  findCommand,
  flagsOf,
  listedCommands,
  type Program,
  type TerminalCommand,
  type TerminalCommands,
} from './command.ts';
import { type CommandLine, parseCommandLine } from './commandLine.ts';
import { reportOf, type TerminalError, usageError } from './failure.ts';
import { commonFlags, type FlagName, flagOf, flagUsage } from './flags.ts';
import { ForceQuitError, type Terminal } from './terminal.ts';

/** The whole program without its process. Returns the exit code. */
export async function runProgram(
  terminal: Terminal,
  program: Program,
  args: readonly string[],
): Promise<number> {
  try {
    return await runCommand({ terminal, program, commandLine: parseCommandLine(args) });
  } catch (error) {
    if (error instanceof ForceQuitError) return 130;
    const failure = reportOf(error, terminal);
    if (asksForJson(args)) await terminal.stdout.writeJson({ event: 'error', ...failure });
    await terminal.stderr.writeText(failure.message);
    return failure.kind === 'usage' ? 2 : 1;
  }
}

/** Also if the rest of the command line cannot be read. */
function asksForJson(args: readonly string[]): boolean {
  const end = args.indexOf('--');
  return args.slice(0, end < 0 ? args.length : end).includes('--json');
}

/**
 * Does what the command line asks for. Returns the exit code.
 * @throws {TerminalError} of the kind `usage` for an unknown command, or for flags and words that it does not take.
 */
async function runCommand(context: CommandContext): Promise<number> {
  const { terminal, commandLine, program } = context;
  const { command: word, isCommandNamed, words, help } = commandLine;
  const print = async (text: string) => {
    // Without the line feed that it ends with, because `writeText` adds one.
    await terminal.stdout.writeText(text.replace(/\n$/, ''));
    return 0;
  };
  if (commandLine.version) return print(program.version);
  const asksForHelp = help || word === 'help';
  const subject = word === 'help' ? words[0] : isCommandNamed ? word : undefined;
  if (asksForHelp && subject === undefined) return print(helpText(commands, program.version));
  const found = findCommand(commands, subject ?? word);
  if (!found) throw unknownCommand(subject ?? word);
  const { name, command } = found;
  if (asksForHelp) return print(commandHelp(name, command));
  refuseFlags(command, name, commandLine);
  refuseWords(command, name, words);
  return command.run(context);
}

function refuseFlags(command: TerminalCommand, name: string, { given }: CommandLine): void {
  const taken = flagsOf(command);
  const wrong = [...given].find((flag) => !taken.has(flag));
  if (wrong === undefined) return;
  const owners = listedCommands(commands).flatMap(([other, its]) => (flagsOf(its).has(wrong) ? [other] : []));
  throw usageError(
    `"runner ${name}" does not take --${wrong}, which is for ${owners.map((other) => `"${other}"`).join(', ')}. "runner ${name} --help" lists its flags.`,
  );
}

function refuseWords({ words: count, usage }: TerminalCommand, name: string, words: readonly string[]): void {
  const { min, max, meaning } = count ?? { min: 0, max: 0, meaning: '' };
  const given = words.filter((word) => word.trim() !== '').length;
  if (given < min) throw usageError(`"runner ${name}" needs ${meaning}. Say: runner ${usage}`);
  const further = words.slice(max);
  if (further.length > 0)
    throw usageError(
      `"runner ${name}" takes no further words; there is "${further.join(' ')}". Say: runner ${usage}`,
    );
}

function unknownCommand(name: string): TerminalError {
  const listed = listedCommands(commands);
  const wordsOf = (isDestructive: boolean) =>
    listed
      .filter(([, command]) => (command.isDestructive === true) === isDestructive)
      .flatMap(([word, { aliases = [] }]) => [word, ...aliases]);
  const harmless = wordsOf(false);
  const near = nearestNames(name, [...harmless, ...wordsOf(true)], 1)[0] ?? '';
  // A destructive command runs only if somebody typed it.
  const hint = harmless.includes(near) ? ` Did you mean "${near}"?` : '';
  const names = listed.map(([word]) => word).join(', ');
  return usageError(
    `There is no command "${showLine(name)}".${hint} The commands are ${names}. To ask a question: runner chat "…"`,
  );
}

/** What `--help` shows. */
function helpText(commands: TerminalCommands, version: string): string {
  const listed = listedCommands(commands).map(([, command]) => command);
  const width = Math.max(...listed.map(({ usage }) => usage.length));
  const groups = [...new Set(listed.map(({ group }) => group))].map((title) => {
    const rows = listed
      .filter(({ group }) => group === title)
      .map(({ usage, summary }) => `  runner ${usage.padEnd(width)}  ${summary}`);
    return [title, ...rows].join('\n');
  });
  return `runner ${version}: talk to the language models on your machine

${groups.join('\n\n')}

Without a command, "runner" opens the conversation. "runner COMMAND --help" shows the flags of a command.
"runner docs COMMAND" is "runner-docs COMMAND": it serves your documents.

Flags of every command
${describeFlags(commonFlags.map((name) => [name, flagOf(name).summary]))}
`;
}

/** What `--help` shows for a command. */
function commandHelp(name: string, command: TerminalCommand): string {
  const { usage, summary, aliases = [], examples = [], wordSummaries = [] } = command;
  const words = [...wordSummaries].map(([word, about]) => `  ${word.padEnd(9)} ${about}\n`).join('');
  const others =
    aliases.length === 0 ? '' : `\nThe same: ${aliases.map((alias) => `runner ${alias}`).join(', ')}\n`;
  const samples =
    examples.length === 0 ? '' : `\nExamples\n${examples.map((line) => `  ${line}`).join('\n')}\n`;
  return `runner ${usage}
  ${summary}
${words === '' ? '' : `\n${words}`}${others}
Flags of "runner ${name}"
${describeFlags([...flagsOf(command)])}
${samples}`;
}

function describeFlags(flags: readonly (readonly [FlagName, string])[]): string {
  const rows = flags.map(([name, summary]) => {
    const { short } = flagOf(name);
    return { shown: `${short === undefined ? '    ' : `-${short}, `}${flagUsage(name)}`, summary };
  });
  const width = Math.max(...rows.map(({ shown }) => shown.length));
  return rows.map(({ shown, summary }) => `  ${shown.padEnd(width)}  ${summary}`).join('\n');
}
