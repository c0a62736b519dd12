import type { CommandLine } from './commandLine.ts';
import { connectForChat } from './connection.ts';
import { converse } from './conversation.ts';
import { runDoctor } from './doctor.ts';
import { TerminalError } from './failure.ts';
import { showModels } from './models.ts';
import { nearest } from './nearest.ts';
import { giveOneAnswer, readPrompt } from './oneAnswer.ts';
import { type Surroundings, write } from './streams.ts';

interface Command {
  readonly usage: string;
  readonly summary: string;
  readonly takesWords?: true;
  /** Returns the exit code. */
  readonly run: (surroundings: Surroundings, commandLine: CommandLine) => Promise<number>;
}

const commands: ReadonlyMap<string, Command> = new Map([
  [
    'chat',
    {
      usage: 'chat [--model M] [PROMPT]',
      summary: 'a conversation, or one answer to a prompt or to standard input',
      takesWords: true,
      run: chat,
    },
  ],
  ['models', { usage: 'models', summary: 'what is installed, and what each model can do', run: showModels }],
  ['doctor', { usage: 'doctor', summary: 'what would go wrong, and how to mend it', run: runDoctor }],
]);

/**
 * Runs what the command line asks for; returns the exit code.
 * @throws {TerminalError} of the kind `usage` for a command that does not exist, or words that it does not take.
 */
export async function runCommand(surroundings: Surroundings, commandLine: CommandLine): Promise<number> {
  const { stdout, version } = surroundings;
  const { command: name, words } = commandLine;
  if (commandLine.version) return print(stdout, `${version}\n`);
  if (commandLine.help || name === 'help') return print(stdout, help(version));
  const command = commands.get(name);
  if (!command) throw unknownCommand(name);
  if (words.length > 0 && !command.takesWords)
    throw new TerminalError(
      'usage',
      `"runner ${name}" takes no further words; there is "${words.join(' ')}".`,
    );
  return command.run(surroundings, commandLine);
}

/** A person at a terminal without a prompt gets a conversation; everything else one answer. */
async function chat(surroundings: Surroundings, commandLine: CommandLine): Promise<number> {
  const { stdin, stdout } = surroundings;
  const isConversation =
    stdin.isTTY === true && stdout.isTTY === true && commandLine.words.length === 0 && !commandLine.json;
  const prompt = isConversation ? '' : await readPrompt(surroundings, commandLine);
  const connection = await connectForChat(surroundings, commandLine);
  try {
    if (isConversation) return await converse(surroundings, commandLine, connection);
    return await giveOneAnswer(surroundings, { commandLine, connection, prompt });
  } finally {
    await connection.daemon.close();
  }
}

function unknownCommand(name: string): TerminalError {
  const names = [...commands.keys()];
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

function help(version: string): string {
  const rows = [...commands.values()].map(({ usage, summary }) => `  runner ${usage.padEnd(28)} ${summary}`);
  return `runner ${version}: talk to the language models on your machine

${rows.join('\n')}

Without a command, "runner" opens the conversation.

  -m, --model M  the model to talk to; else the one that is loaded, else the newest
  --server URL   the runner to talk to; else OLLAMA_HOST, else http://127.0.0.1:11434
  --json         one JSON object a line on standard output
  --version, --help
`;
}
