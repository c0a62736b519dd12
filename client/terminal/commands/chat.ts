import type { CommandLine } from '../cli/commandLine.ts';
import type { Surroundings } from '../cli/streams.ts';
import { readChatSettings } from '../conversation/chatSettings.ts';
import { converse } from '../conversation/conversation.ts';
import { findKept } from '../conversation/keptConversation.ts';
import { chooseTools } from '../conversation/toolChoice.ts';
import { connectForChat } from '../daemon/connection.ts';
import { giveOneAnswer, readPrompt } from './oneAnswer.ts';

/** A person at a terminal without a prompt gets a conversation; everything else one answer. */
export async function chat(surroundings: Surroundings, commandLine: CommandLine): Promise<number> {
  const { stdin, stdout } = surroundings;
  const isConversation =
    stdin.isTTY === true && stdout.isTTY === true && commandLine.words.length === 0 && !commandLine.json;
  const tools = chooseTools(surroundings, commandLine);
  const settings = await readChatSettings(surroundings.cwd, commandLine);
  const prompt = isConversation ? '' : await readPrompt(surroundings, commandLine);
  const { options } = tools;
  // Whoever is at a terminal can be asked before a call.
  const client = { approvesTools: stdin.isTTY === true && stdout.isTTY === true && !commandLine.json };
  const connection = await connectForChat(surroundings, commandLine, { options, client });
  try {
    const kept = await findKept(surroundings, commandLine, connection.daemon);
    if (isConversation)
      return await converse(surroundings, { commandLine, connection, kept, tools, settings });
    return await giveOneAnswer(surroundings, { commandLine, connection, prompt, kept, tools, settings });
  } finally {
    await connection.daemon.close();
  }
}
