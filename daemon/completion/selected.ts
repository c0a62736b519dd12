import type { SelectedCompletionInfo, TextPosition } from '../../protocol/completion.ts';
import { afterAcceptance } from './accepted.ts';
import { type Surroundings, surroundingsAt, type TextSource } from './surroundings.ts';

/**
 * The text around the cursor as if the item that the editor's list has selected were inserted already, with the cursor
 * behind it; undefined where the item would be inserted elsewhere than around the cursor.
 */
export function surroundingsBehind(
  { range, text }: SelectedCompletionInfo,
  document: TextSource,
  position: TextPosition,
): Surroundings | undefined {
  const [start, end] = [document.offsetAt(range.start), document.offsetAt(range.end)];
  const cursor = document.offsetAt(position);
  if (range.start.line !== range.end.line || start > cursor || cursor > end) return undefined;
  return afterAcceptance(surroundingsAt(document, range.start), text, end - start);
}
