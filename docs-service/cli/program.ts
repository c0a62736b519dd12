import { messageOf, showControls } from '../../protocol/base/text.ts';
import {
  isUsageError,
  type OptionSpecs,
  parseOptions,
  UsageError,
  unknownVariables,
} from '../base/options.ts';
import { clientAddCommand, clientListCommand, clientRemoveCommand } from '../commands/client.ts';
import { connectCommand } from '../commands/connect.ts';
import { doctorCommand } from '../commands/doctor.ts';
import { indexCommand } from '../commands/indexCommand.ts';
import { ownerSetPasswordCommand, ownerSetProfileCommand } from '../commands/owner.ts';
import { mcpCommand, serveCommand } from '../commands/serve.ts';
import {
  backupCommand,
  tokenCreateCommand,
  tokenListCommand,
  tokenRevokeCommand,
} from '../commands/token.ts';
import type { Command, ProgramContext } from './command.ts';

/** The whole program except its process. Returns the exit code: 2 for a wrong command line, 1 for a failure. */
export async function runProgram(args: readonly string[], given: ProgramContext): Promise<number> {
  const context = withShownControls(given);
  try {
    return await run(args, context);
  } catch (error) {
    context.note(`runner-docs: ${messageOf(error)}\n`);
    return isUsageError(error) ? 2 : 1;
  }
}

/**
 * The edge to the terminal and the log. Names of files and texts from them may have control characters, which a
 * terminal obeys; here they become visible. Only the line of progress may begin with a carriage return.
 */
function withShownControls(context: ProgramContext): ProgramContext {
  const shown = (text: string) =>
    text.startsWith('\r') ? `\r${showControls(text.slice(1))}` : showControls(text);
  return {
    ...context,
    print: (text) => context.print(shown(text)),
    note: (text) => context.note(shown(text)),
  };
}

async function run(args: readonly string[], context: ProgramContext): Promise<number> {
  const { print, version, env } = context;
  const [first = 'serve'] = args;
  const wantsHelp = args.includes('--help') || args.includes('-h');
  if (first === '--version') {
    print(`${version}\n`);
    return 0;
  }
  if (first === 'help' || (wantsHelp && first.startsWith('-'))) {
    print(programHelp(version, Object.keys(commands) as CommandName[]));
    return 0;
  }
  if (wantsHelp && args[1]?.startsWith('-') && namesAfter(first).length > 0) {
    print(programHelp(version, namesAfter(first)));
    return 0;
  }
  const { command, rest } = chooseCommand(args);
  if (wantsHelp) {
    print(commandHelp(command));
    return 0;
  }
  const commandLine = parseOptions(command.options, rest, env);
  const { words } = commandLine;
  if (words.length < command.words || words.length > command.words + (command.moreWords ?? 0))
    throw new UsageError(`the command is "runner-docs ${command.usage}". Add --help for more.`);
  const specs = Object.values(commands).map(({ options }) => options);
  for (const warning of unknownVariables(specs, env)) context.note(`${warning}\n`);
  return command.run(commandLine, context);
}

/** The command that the first words name, or `serve` if they are only flags. */
function chooseCommand(args: readonly string[]): { command: Command; rest: readonly string[] } {
  const table = new Map<string, unknown>(Object.entries(commands));
  for (const length of [2, 1]) {
    const found = table.get(args.slice(0, length).join(' '));
    // Each command gets the values of its own options.
    if (found !== undefined) return { command: found as Command, rest: args.slice(length) };
  }
  const [first] = args;
  if (first === undefined || first.startsWith('-'))
    return { command: commands.serve as unknown as Command, rest: args };
  const known = namesAfter(first);
  const hint = known.length === 0 ? [...table.keys()] : known;
  const typed = known.length === 0 ? first : args.slice(0, 2).join(' ');
  throw new UsageError(`there is no command "${typed}"; the commands are ${hint.join(', ')}.`);
}

/** Every command of `runner-docs`, by its words. Without a command, the first one runs. */
export const commands = {
  serve: serveCommand,
  mcp: mcpCommand,
  index: indexCommand,
  'token create': tokenCreateCommand,
  'token list': tokenListCommand,
  'token revoke': tokenRevokeCommand,
  'owner set-password': ownerSetPasswordCommand,
  'owner set-profile': ownerSetProfileCommand,
  'client add': clientAddCommand,
  'client list': clientListCommand,
  'client remove': clientRemoveCommand,
  connect: connectCommand,
  backup: backupCommand,
  doctor: doctorCommand,
} as const satisfies Readonly<Record<string, Pick<Command, 'usage' | 'summary' | 'options' | 'words'>>>;

type CommandName = keyof typeof commands;

/** The commands of two words that begin with this one. */
function namesAfter(word: string): readonly CommandName[] {
  return (Object.keys(commands) as CommandName[]).filter((name) => name.startsWith(`${word} `));
}

function programHelp(version: string, names: readonly CommandName[]): string {
  const rows = names.map((name) => [`runner-docs ${commands[name].usage}`, commands[name].summary] as const);
  return `runner-docs ${version}: documents for programs, readers and agents

${columns(rows)}

Each command has --help. Each flag has a variable too: --base-url is DOCS_BASE_URL.
docs/DOCUMENTS.md explains everything: content, search, PDF and EPUB, hosting.
`;
}

function commandHelp({ usage, summary, options }: Command): string {
  const rows = Object.entries(options as OptionSpecs).map(
    ([name, { value, help }]) => [`--${name}${value === undefined ? '' : ` ${value}`}`, help] as const,
  );
  return `runner-docs ${usage}

${summary}

${columns(rows)}
`;
}

function columns(rows: readonly (readonly [string, string])[]): string {
  const width = Math.max(...rows.map(([left]) => left.length));
  return rows.map(([left, right]) => `  ${left.padEnd(width)}  ${right}`).join('\n');
}
