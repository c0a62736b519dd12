import { cutText } from '../../../protocol/base/text.ts';

// Text that others wrote, made safe for places in which the editor reads markup.

/** A sentence for a notification or a progress title, in which the editor reads links, even links that run commands. */
export function plain(sentence: string): string {
  return sentence.replaceAll('](', '] (');
}

/** For a Markdown string. */
export function escapeMarkdown(text: string): string {
  return text.replace(/[\\`*_{}[\]()#+\-!|<>]/g, '\\$&');
}

/**
 * For a Markdown string in which `$(name)` is an icon. Without a change, the editor would replace `$(pwd)` with an
 * icon, even in code. The inserted character has no width.
 */
export function withoutIcons(text: string): string {
  return text.replace(/\$(?=\\?\()/g, '$\u2060');
}

/** The text as a block quote in Markdown, cut to `max` UTF-16 units. */
export function toQuote(text: string, max: number): string {
  const whole = text.trim();
  const shown = whole.length > max ? `${cutText(whole, max).trimEnd()} …` : whole;
  const lines = withoutIcons(shown).split(/\r\n|\r|\n/);
  return lines.map((line) => `> ${line}`.trimEnd()).join('\n');
}

/** The status bar cuts a longer text. */
export function firstSentence(text: string): string {
  const end = text.indexOf('. ');
  return end < 0 ? text : text.slice(0, end + 1);
}
