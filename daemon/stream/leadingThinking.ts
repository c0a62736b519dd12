import { createStreamParser } from './parser.ts';
import { defaultProfile } from './profile.ts';

/**
 * What a whole text says after the thinking that it begins with, in whatever form a stream may have it. The line in
 * which that begins keeps its blanks; all that follows is left as it is. Thinking that never ends leaves nothing.
 */
export function afterLeadingThinking(text: string): string {
  const parser = createStreamParser({ profile: { ...defaultProfile, callTags: [], resultTags: [] } });
  const events = [...parser.push(text), ...parser.finish()];
  const first = events.findIndex(({ type }) => type === 'text');
  const before = first < 0 ? events : events.slice(0, first);
  let start = before.reduce((length, event) => length + ('text' in event ? event.text.length : 0), 0);
  if (first < 0) return '';
  while (start > 0 && (text[start - 1] === ' ' || text[start - 1] === '\t')) start--;
  return text.slice(start);
}
