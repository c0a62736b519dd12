import { type Command, listedCommands } from './command.ts';
import type { CommandLine } from './commandLine.ts';
import { commands } from './commands.ts';
import { TerminalError } from './failure.ts';
import { helpText } from './help.ts';
import { nearest } from './nearest.ts';
import { type Surroundings, write } from './streams.ts';

/**
 * Runs what the command line asks for; returns the exit code.
 * @throws {TerminalError} of the kind `usage` for a command that does not exist, or words that it does not take.
 */
export async function runCommand(surroundings: Surroundings, commandLine: CommandLine): Promise<number> {
  const { stdout, version } = surroundings;
  const { command: name, words } = commandLine;
  if (commandLine.version) return print(stdout, `${version}\n`);
  if (commandLine.help || name === 'help') return print(stdout, helpText(commands, version));
  const command = commands.get(name);
  if (!command) throw unknownCommand(name);
  refuseWords(command, name, words);
  return command.run(surroundings, commandLine);
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
      `"runner ${name}" takes no further words; there is "${further.join(' ')}".`,
    );
}

function unknownCommand(name: string): TerminalError {
  const names = listedCommands(commands).map(([listed]) => listed);
  const near = nearest(name, names, 1)[0];
  const hint = near === undefined ? '' : ` Did you mean "${near}"?`;
  return new TerminalError(
    'usage',
    `There is no command "${name}".${hint} The commands are ${names.join(', ')}. To ask a question: runner chat "…"`,
  );
}

async function print(stdout: Surroundings['stdout'], text: string): Promise<number> {
  await write(stdout, text);
  return 0;
}
