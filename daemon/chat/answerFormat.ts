import { tryJson } from '../../protocol/base/json.ts';
import type { ChatParams, FinishReason } from '../../protocol/messages/chat.ts';
import { isNestedTooDeep } from '../base/nesting.ts';
import { createSchemaCheck } from '../base/schemaCheck.ts';

/** A sentence about an answer that is not in the format that was asked for; undefined if it is. */
export function problemOfFormat(
  format: NonNullable<ChatParams['format']>,
  text: string,
  finishReason: FinishReason,
): string | undefined {
  const value = isNestedTooDeep(text) ? undefined : tryJson(text);
  if (value === undefined)
    return finishReason === 'length'
      ? 'The answer was cut before its JSON was complete. Allow it more tokens, or ask for less.'
      : 'The answer is not JSON, although the request asked for it. Perhaps the runner does not hold answers to a format.';
  if (typeof format === 'string') return undefined;
  const finding = createSchemaCheck()(format, value, 'it');
  switch (finding?.kind) {
    case undefined:
      return undefined;
    case 'wrong':
      return `The answer does not match the schema: ${finding.problems}.`;
    case 'late':
      return 'The answer could not be checked against the schema in time. Use a simpler schema.';
    case 'unreadable':
      return 'The answer could not be checked, because the schema cannot be read.';
  }
}
