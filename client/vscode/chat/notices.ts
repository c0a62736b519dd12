import type { Memento } from 'vscode';
import type { Message, Notice } from '../../../protocol/messages/chat.ts';
import { plain } from '../ui/safeText.ts';

/** Callers that show an answer to the user as it is: the editor, and its own chat. */
const chats: readonly string[] = ['core', 'github.copilot-chat'];

export function isChat(initiator: string | undefined): boolean {
  return initiator !== undefined && chats.includes(initiator.toLowerCase());
}

export function isBuiltInChat(initiator: string | undefined): boolean {
  return initiator?.toLowerCase() === 'github.copilot-chat';
}

/** The notices that the provider shows beside its answers. They are not part of what the model said. */
export type ChatNotices = ReturnType<typeof createNotices>;

/** `say` shows a notification. */
export function createNotices(say: (sentence: string) => void) {
  const quoted = new Set<string>();
  const shown = new Set<string>();
  return {
    /**
     * Returns a quote for the answer if a chat shows the answer. Any other extension gets only the answer, and the user
     * sees each notice once, as a notification.
     */
    show({ message }: Notice, initiator: string | undefined): string | undefined {
      if (initiator === undefined || isChat(initiator)) {
        quoted.add(message);
        return quote(message);
      }
      if (!shown.has(message)) say(plain(message));
      shown.add(message);
      return undefined;
    },
    /** A conversation without the quotes in earlier answers. */
    remove: (messages: readonly Message[]): readonly Message[] =>
      messages.map((message) =>
        message.role === 'assistant' ? { ...message, content: without(message.content, quoted) } : message,
      ),
  };
}

function quote(message: string): string {
  return `\n\n> ${message}\n\n`;
}

/** Also removes a quote at either end of the text, where the blank lines around it are gone. */
function without(text: string, messages: Iterable<string>): string {
  let rest = text;
  for (const message of messages) {
    const line = quote(message);
    rest = rest.replaceAll(line, '');
    if (rest.startsWith(line.trimStart())) rest = rest.slice(line.trimStart().length);
    if (rest.endsWith(line.trimEnd())) rest = rest.slice(0, -line.trimEnd().length);
    if (rest.trim() === line.trim()) rest = '';
  }
  return rest;
}

const memoryKey = 'runner.saidThatCancelsAreLost';

/** Says once, when the editor's own chat asks for the first time, that this version may not pass on a cancel. */
export function createCancelWarning({
  version,
  memory,
  show,
}: {
  /** Of the editor. */
  readonly version: string;
  readonly memory: Memento;
  readonly show: (sentence: string) => void;
}): () => void {
  return () => {
    if (cancelsReliably(version) || memory.get(memoryKey) === true) return;
    void memory.update(memoryKey, true);
    show(
      `VS Code ${version} does not always stop a model when you cancel in the editor's own chat. Update to 1.127 or newer, or ask @runner, which always stops.`,
    );
  };
}

/** Whether a cancel in the editor's own chat reaches a model of an extension: not always before VS Code 1.127. */
function cancelsReliably(version: string): boolean {
  const [major = 0, minor = 0] = version.split('.').map(Number);
  return major > 1 || (major === 1 && minor >= 127);
}
