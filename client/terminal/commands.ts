import type { CommandLine } from './commandLine.ts';
import { connectForChat } from './connection.ts';
import { converse } from './conversation.ts';
import { runDoctor } from './doctor.ts';
import { showModels } from './models.ts';
import { nearest } from './nearest.ts';
import { giveOneAnswer, readPrompt } from './oneAnswer.ts';
import { type Surroundings, UsageError, write } from './streams.ts';

interface Command {
  readonly usage: string;
  readonly summary: string;
  /** Returns the exit code. */
  readonly run: (surroundings: Surroundings, commandLine: CommandLine) => Promise<number>;
}

const commands: Readonly<Record<string, Command>> = {
  chat: {
    usage: 'chat [--model M] [PROMPT]',
    summary: 'a conversation, or one answer to a prompt or to standard input',
    run: chat,
  },
  models: { usage: 'models', summary: 'what is installed, and what each model can do', run: showModels },
  doctor: { usage: 'doctor', summary: 'what would go wrong, and how to mend it', run: runDoctor },
};

/** Runs what the command line asks for; returns the exit code. */
export async function runCommand(surroundings: Surroundings, commandLine: CommandLine): Promise<number> {
  const { stdout, version } = surroundings;
  if (commandLine.help) return print(stdout, help(version));
  if (commandLine.version) return print(stdout, `${version}\n`);
  const command = commands[commandLine.command];
  if (command) return command.run(surroundings, commandLine);
  const near = nearest(commandLine.command, Object.keys(commands), 1)[0];
  const hint =
    near === undefined ? `The commands are ${Object.keys(commands).join(', ')}.` : `Did you mean "${near}"?`;
  throw new UsageError(
    `There is no command "${commandLine.command}". ${hint} To ask a question: runner chat "…"`,
  );
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
    return await giveOneAnswer(surroundings, commandLine, connection, prompt);
  } finally {
    await connection.daemon.close();
  }
}

async function print(stdout: Surroundings['stdout'], text: string): Promise<number> {
  await write(stdout, text);
  return 0;
}

function help(version: string): string {
  const rows = Object.values(commands).map(({ usage, summary }) => `  runner ${usage.padEnd(28)} ${summary}`);
  return `runner ${version}: talk to the language models on your machine

${rows.join('\n')}

  --server URL   the runner to talk to; else OLLAMA_HOST, else http://127.0.0.1:11434
  --json         one JSON object a line on standard output
  --version, --help
`;
}
