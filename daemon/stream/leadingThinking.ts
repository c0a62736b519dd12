import { createStreamParser } from './parser.ts';
import { defaultProfile } from './profile.ts';

/**
 * A whole text without the thinking at its beginning, in any form that a stream may have. The first remaining line
 * keeps its indentation, and everything after it is unchanged. If the thinking never ends, nothing is left.
 */
export function afterLeadingThinking(text: string): string {
  const parser = createStreamParser({ profile: { ...defaultProfile, callTags: [] } });
  const events = [...parser.push(text), ...parser.finish()];
  const first = events.findIndex(({ type }) => type === 'text');
  const before = first < 0 ? events : events.slice(0, first);
  let start = before.reduce((length, event) => length + ('text' in event ? event.text.length : 0), 0);
  if (first < 0) return '';
  while (start > 0 && (text[start - 1] === ' ' || text[start - 1] === '\t')) start--;
  return text.slice(start);
}
