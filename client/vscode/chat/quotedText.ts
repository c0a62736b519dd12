/**
 * Text that others wrote, for a Markdown string in which `$(name)` is an icon. Without a change, the editor would
 * replace `$(pwd)` with an icon, even in code. The character that is put in has no width.
 */
export function withoutIcons(text: string): string {
  return text.replace(/\$(?=\\?\()/g, '$\u2060');
}

/** The text as a block quote in Markdown: at most so many UTF-16 units of it, and no half character. */
export function toQuote(text: string, most: number): string {
  const whole = text.trim();
  const shown = whole.length > most ? `${cut(whole, most).trimEnd()} …` : whole;
  const lines = withoutIcons(shown).split(/\r\n|\r|\n/);
  return lines.map((line) => `> ${line}`.trimEnd()).join('\n');
}

/** The beginning of a text: at most so many UTF-16 units, and no half character. */
export function cut(text: string, most: number): string {
  const last = text.charCodeAt(most - 1);
  const isHalf = text.length > most && last >= 0xd800 && last <= 0xdbff;
  return text.slice(0, isHalf ? most - 1 : most);
}
