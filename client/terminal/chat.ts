import type { CommandLine } from './commandLine.ts';
import { connectForChat } from './connection.ts';
import { converse } from './conversation.ts';
import { giveOneAnswer, readPrompt } from './oneAnswer.ts';
import type { Surroundings } from './streams.ts';

/** A person at a terminal without a prompt gets a conversation; everything else one answer. */
export async function chat(surroundings: Surroundings, commandLine: CommandLine): Promise<number> {
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
