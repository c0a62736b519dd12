import * as vscode from 'vscode';
import type { ChatDelta } from '../../../protocol/messages/chat.ts';
import { withoutIcons } from './quotedText.ts';
import { toThoughtLine, toThoughtQuote } from './thoughts.ts';

/** Writes an answer into the chat as it arrives. */
export interface AnswerWriter {
  write(delta: ChatDelta): void;
  /** The answer is complete. */
  end(): void;
  /** From the first part that was written until now, in ms. */
  readonly elapsed: number;
}

/** The least number of characters of thinking that are shown at once, if a paragraph ends there. */
const stepLength = 300;

/**
 * Shows thinking as it arrives, and afterwards as a quote above the answer, below a line that opens more of it.
 * `now` in ms.
 */
export function createAnswerWriter(stream: vscode.ChatResponseStream, now: () => number): AnswerWriter {
  let thought = '';
  let shown = 0;
  let begunAt = 0;
  let firstAt: number | undefined;
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
    if (thought.trim() !== '') {
      stream.markdown(toThoughtLine(thought, (now() - begunAt) / 1000));
      stream.markdown(toThoughtQuote(thought));
    }
    thought = '';
    shown = 0;
  };
  return {
    write(delta) {
      firstAt ??= now();
      if (delta.kind === 'thinking') return think(delta.text);
      end();
      if (delta.kind === 'text') stream.markdown(delta.text);
      if (delta.kind === 'notice') stream.markdown(toAside(delta.notice.message));
    },
    end,
    get elapsed() {
      return firstAt === undefined ? 0 : now() - firstAt;
    },
  };
}

/** A sentence that is shown beside the answer, such as a notice. */
export function toAside(sentence: string): vscode.MarkdownString {
  return new vscode.MarkdownString(`\n\n> $(info) ${withoutIcons(sentence)}\n\n`, true);
}

/** Whether we wrote it beside the answer. The model never said it, so it is not sent to the model. */
export function isAside({ supportThemeIcons = false }: vscode.MarkdownString): boolean {
  return supportThemeIcons;
}
