import {
  completionAcceptedCommand,
  type InlineCompletionItem,
  type SelectedCompletionInfo,
} from '../../protocol/completion.ts';
import type { AnswerContext } from './answerContext.ts';
import { filters } from './filters/filters.ts';
import type { Surroundings } from './surroundings.ts';

/** What of an answer is worth suggesting; `""` where nothing is. Line ends are the document's. */
export function suggestionOf(answer: string, around: Surroundings, context: AnswerContext): string {
  const text = filters.reduce((rest, filter) => (rest === '' ? '' : filter(rest, context)), answer);
  return withLineEndsOf(around, text);
}

/** What the editor inserts before the text, and instead of what; both empty where nothing of its list is selected. */
export type Base = SelectedCompletionInfo;

/** The item for a text that stands in for so many characters after its base. */
export function itemOf(
  text: string,
  { base: { range, text: selected }, replaced }: { readonly base: Base; readonly replaced: number },
  id: string,
): InlineCompletionItem {
  const { start, end } = range;
  return {
    insertText: selected + text,
    range: { start, end: { line: end.line, character: end.character + replaced } },
    command: { title: 'Completion accepted', command: completionAcceptedCommand, arguments: [{ id }] },
  };
}

function withLineEndsOf({ prefix, suffix }: Surroundings, text: string): string {
  return /\r\n/.test(prefix) || /\r\n/.test(suffix) ? text.replace(/\r?\n/g, '\r\n') : text;
}
