import { showControls } from '../../protocol/base/controlCharacters.ts';
import { parseOptions } from '../base/options.ts';
import { isUsageError, UsageError } from '../base/usageError.ts';
import type { Command } from '../commands/command.ts';
import { commands } from '../commands/commands.ts';
import { commandHelp, programHelp } from './help.ts';
import type { Surroundings } from './surroundings.ts';

/** The whole program except its process. Returns the exit code: 2 for a wrong command line, 1 for a failure. */
export async function runProgram(args: readonly string[], given: Surroundings): Promise<number> {
  const surroundings = withShownControls(given);
  try {
    return await run(args, surroundings);
  } catch (error) {
    const message = error instanceof Error ? error.message : String(error);
    surroundings.note(`runner-docs: ${message}\n`);
    return isUsageError(error) ? 2 : 1;
  }
}

/**
 * The edge to the terminal and the log. Names of files and texts from them may have control characters, which a terminal
 * obeys; here they become visible. Only the line of progress may begin with a carriage return.
 */
function withShownControls(surroundings: Surroundings): Surroundings {
  const shown = (text: string) =>
    text.startsWith('\r') ? `\r${showControls(text.slice(1))}` : showControls(text);
  return {
    ...surroundings,
    print: (text) => surroundings.print(shown(text)),
    note: (text) => surroundings.note(shown(text)),
  };
}

async function run(args: readonly string[], surroundings: Surroundings): Promise<number> {
  const { print, version, env } = surroundings;
  const [first = 'serve'] = args;
  const wantsHelp = args.includes('--help') || args.includes('-h');
  if (first === '--version') {
    print(`${version}\n`);
    return 0;
  }
  if (first === 'help' || (wantsHelp && first.startsWith('-'))) {
    print(programHelp(version, Object.values(commands)));
    return 0;
  }
  const { command, rest } = chooseCommand(args);
  if (wantsHelp) {
    print(commandHelp(command));
    return 0;
  }
  const commandLine = parseOptions(command.options, rest, env);
  const { words } = commandLine;
  if (words.length !== command.words)
    throw new UsageError(`the command is "runner-docs ${command.usage}". Add --help for more.`);
  return command.run(commandLine, surroundings);
}

/** The command that the first words name, or `serve` if they are only flags. */
function chooseCommand(args: readonly string[]): {
  readonly command: Command;
  readonly rest: readonly string[];
} {
  const table = new Map<string, unknown>(Object.entries(commands));
  for (const length of [2, 1]) {
    const found = table.get(args.slice(0, length).join(' '));
    // Each command gets the values of its own options.
    if (found !== undefined) return { command: found as Command, rest: args.slice(length) };
  }
  const [first] = args;
  if (first === undefined || first.startsWith('-'))
    return { command: commands.serve as unknown as Command, rest: args };
  const known = [...table.keys()].filter((name) => name.startsWith(`${first} `));
  const hint = known.length === 0 ? [...table.keys()] : known;
  const typed = known.length === 0 ? first : args.slice(0, 2).join(' ');
  throw new UsageError(`there is no command "${typed}"; the commands are ${hint.join(', ')}.`);
}
