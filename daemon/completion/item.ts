import { completionAcceptedCommand, type InlineCompletionItem } from '../../protocol/completion.ts';
import type { AnswerContext } from './answerContext.ts';
import { filters } from './filters/filters.ts';
import type { Surroundings } from './surroundings.ts';

/** What of an answer is worth suggesting; `""` where nothing is. Line ends are the document's. */
export function suggestionOf(answer: string, around: Surroundings, context: AnswerContext): string {
  const text = filters.reduce((rest, filter) => (rest === '' ? '' : filter(rest, context)), answer);
  return withLineEndsOf(around, text);
}

/** The item for a text that stands in for so many characters after the cursor. */
export function itemOf(
  text: string,
  { start, replaced }: { readonly start: InlineCompletionItem['range']['start']; readonly replaced: number },
  id: string,
): InlineCompletionItem {
  return {
    insertText: text,
    range: { start, end: { line: start.line, character: start.character + replaced } },
    command: { title: 'Completion accepted', command: completionAcceptedCommand, arguments: [{ id }] },
  };
}

function withLineEndsOf({ prefix, suffix }: Surroundings, text: string): string {
  return /\r\n/.test(prefix) || /\r\n/.test(suffix) ? text.replace(/\r?\n/g, '\r\n') : text;
}
