import { withoutUndefined } from '../../../protocol/base/withoutUndefined.ts';
import type { Attachment, ChatParams, Message } from '../../../protocol/messages/chat.ts';
import type { CommandLine } from '../cli/commandLine.ts';
import { readAttachment, readImage, readSystem } from './chatFiles.ts';

/** What holds for each turn, and what goes along with the next. */
export interface ChatSettings {
  system: string | undefined;
  think: ChatParams['think'];
  /** The runner's own. */
  options: Readonly<Record<string, unknown>>;
  /** Tokens of the window; undefined leaves it to the runner. */
  context: number | undefined;
  readonly keepAlive: string | undefined;
  attachments: readonly Attachment[];
  images: readonly string[];
}

/** @throws {TerminalError} of the kind `usage`, where a file of the command line cannot go along. */
export async function readChatSettings(
  cwd: string,
  { system, think, options, context, keepAlive, files, images }: CommandLine,
): Promise<ChatSettings> {
  return {
    system: system === undefined ? undefined : await readSystem(cwd, system),
    think,
    options,
    context,
    keepAlive,
    attachments: await Promise.all(files.map((path) => readAttachment(cwd, path))),
    images: await Promise.all(images.map((path) => readImage(cwd, path))),
  };
}

/** The user's next message. */
export function promptMessage(content: string, { attachments, images }: ChatSettings): Message {
  return {
    role: 'user',
    content,
    ...(attachments.length === 0 ? {} : { attachments }),
    ...(images.length === 0 ? {} : { images }),
  };
}

/** What the settings add to a turn with these messages. */
export function settingsOfTurn(
  { system, think, options, context, keepAlive }: ChatSettings,
  messages: readonly Message[],
): Pick<ChatParams, 'messages' | 'think' | 'options' | 'keepAlive'> {
  const all = { ...options, ...(context === undefined ? {} : { num_ctx: context }) };
  return withoutUndefined({
    messages: system === undefined ? messages : [{ role: 'system' as const, content: system }, ...messages],
    think,
    options: Object.keys(all).length === 0 ? undefined : all,
    keepAlive,
  });
}
