import { commands } from '../commands/commands.ts';
import { showLine } from '../screen/controlCharacters.ts';
import { wrapText } from '../screen/wordWrap.ts';
import { type Command, findCommand, flagsOf, listedCommands } from './command.ts';
import type { CommandLine } from './commandLine.ts';
import { TerminalError } from './failure.ts';
import { commandHelp, helpText } from './help.ts';
import { nearest } from './nearest.ts';
import { type Surroundings, write } from './streams.ts';

/**
 * Does what a command line asks for; returns the exit code.
 * @throws {TerminalError} of the kind `usage` for a command that does not exist, or words that it does not take.
 */
export async function runCommand(surroundings: Surroundings, commandLine: CommandLine): Promise<number> {
  const { stdout, version } = surroundings;
  const { command: word, isCommandNamed, words, help } = commandLine;
  if (commandLine.version) return print(stdout, `${version}\n`);
  const asksForHelp = help || word === 'help';
  const subject = word === 'help' ? words[0] : isCommandNamed ? word : undefined;
  if (asksForHelp && subject === undefined) return print(stdout, helpText(commands, version));
  const found = findCommand(commands, subject ?? word);
  if (!found) throw unknownCommand(subject ?? word);
  const { name, command } = found;
  if (asksForHelp) return print(stdout, commandHelp(name, command));
  refuseFlags(command, name, commandLine);
  refuseWords(command, name, words);
  return command.run(surroundings, commandLine);
}

function refuseFlags(command: Command, name: string, { given }: CommandLine): void {
  const taken = flagsOf(command);
  const wrong = [...given].find((flag) => !taken.has(flag));
  if (wrong === undefined) return;
  const owners = listedCommands(commands).flatMap(([other, its]) => (flagsOf(its).has(wrong) ? [other] : []));
  throw new TerminalError(
    'usage',
    `"runner ${name}" does not take --${wrong}, which is for ${owners.map((other) => `"${other}"`).join(', ')}. "runner ${name} --help" lists its flags.`,
  );
}

function refuseWords({ words: count, usage }: Command, name: string, words: readonly string[]): void {
  const { least, most, meaning } = count ?? { least: 0, most: 0, meaning: '' };
  const given = words.filter((word) => word.trim() !== '').length;
  if (given < least)
    throw new TerminalError('usage', `"runner ${name}" needs ${meaning}. Say: runner ${usage}`);
  const further = words.slice(most);
  if (further.length > 0)
    throw new TerminalError(
      'usage',
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
  const near = nearest(name, [...harmless, ...wordsOf(true)], 1)[0] ?? '';
  // What takes something away is for those alone who type it.
  const hint = harmless.includes(near) ? ` Did you mean "${near}"?` : '';
  const names = listed.map(([word]) => word).join(', ');
  return new TerminalError(
    'usage',
    `There is no command "${showLine(name)}".${hint} The commands are ${names}. To ask a question: runner chat "…"`,
  );
}

async function print(stdout: Surroundings['stdout'], text: string): Promise<number> {
  await write(stdout, stdout.isTTY ? wrapText(text, stdout.columns || 80) : text);
  return 0;
}
