import * as vscode from 'vscode';
import type { ChatDelta } from '../../../protocol/chat.ts';
import { toThoughtLine } from './thoughts.ts';

/** Writes an answer into the chat as it comes. */
export interface AnswerWriter {
  write(delta: ChatDelta): void;
  /** Nothing more comes. */
  end(): void;
}

/** Characters of thinking that are shown at once at least, where a paragraph ends. */
const stepLength = 300;

/**
 * Thinking is shown while it comes, and is a line to open afterwards; the rest is the answer. `now` in ms.
 */
export function createAnswerWriter(stream: vscode.ChatResponseStream, now: () => number): AnswerWriter {
  let thought = '';
  let shown = 0;
  let begunAt = 0;
  const think = (text: string) => {
    if (thought === '') {
      begunAt = now();
      stream.progress('Thinking');
    }
    thought += text;
    const end = thought.lastIndexOf('\n\n');
    if (end - shown < stepLength) return;
    stream.progress(thought.slice(shown, end).trim());
    shown = end;
  };
  const end = () => {
    if (thought.trim() !== '') stream.markdown(toThoughtLine(thought, (now() - begunAt) / 1000));
    thought = '';
    shown = 0;
  };
  return {
    write(delta) {
      if (delta.kind === 'thinking') return think(delta.text);
      end();
      if (delta.kind === 'text') stream.markdown(delta.text);
      if (delta.kind === 'notice') stream.markdown(toAside(delta.notice.message));
    },
    end,
  };
}

/** What is said beside the answer, such as a notice. */
export function toAside(sentence: string): vscode.MarkdownString {
  return new vscode.MarkdownString(`\n\n> $(info) ${sentence}\n\n`, true);
}

/** Whether we wrote it beside the answer: the model never said it, and is not told it again. */
export function isAside({ supportThemeIcons = false }: vscode.MarkdownString): boolean {
  return supportThemeIcons;
}
