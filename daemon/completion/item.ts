import { completionAcceptedCommand, type InlineCompletionItem } from '../../protocol/completion.ts';
import type { AnswerContext } from './answerContext.ts';
import { filters } from './filters/filters.ts';
import { replacedLength } from './filters/repeatedClosers.ts';
import type { Surroundings } from './surroundings.ts';

/** What is suggested, or undefined where nothing of the answer is worth it. Line ends are the document's. */
export function itemOf(
  answer: string,
  around: Surroundings,
  { context, createId }: { readonly context: AnswerContext; readonly createId: () => string },
): InlineCompletionItem | undefined {
  const text = filters.reduce((rest, filter) => (rest === '' ? '' : filter(rest, context)), answer);
  if (text === '') return undefined;
  const start = around.position;
  const end = { line: start.line, character: start.character + replacedLength(text, context) };
  return {
    insertText: withLineEndsOf(around, text),
    range: { start, end },
    command: {
      title: 'Completion accepted',
      command: completionAcceptedCommand,
      arguments: [{ id: createId() }],
    },
  };
}

function withLineEndsOf({ prefix, suffix }: Surroundings, text: string): string {
  return /\r\n/.test(prefix) || /\r\n/.test(suffix) ? text.replace(/\r?\n/g, '\r\n') : text;
}
