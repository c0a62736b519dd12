import { type Command, type Commands, flagsOf, listedCommands } from './command.ts';
import { commonFlags, type FlagName, flagOf, flagUsage } from './flags.ts';

/** What `--help` shows. */
export function helpText(commands: Commands, version: string): string {
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

Flags of every command
${describeFlags(commonFlags.map((name) => [name, flagOf(name).summary]))}
`;
}

/** What `--help` shows behind a command. */
export function commandHelp(name: string, command: Command): string {
  const { usage, summary, aliases = [], examples = [] } = command;
  const others =
    aliases.length === 0 ? '' : `\nThe same: ${aliases.map((alias) => `runner ${alias}`).join(', ')}\n`;
  const samples =
    examples.length === 0 ? '' : `\nExamples\n${examples.map((line) => `  ${line}`).join('\n')}\n`;
  return `runner ${usage}
  ${summary}
${others}
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
