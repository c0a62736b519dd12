/** The beginning of a text: at most `max` UTF-16 units, and never half of a surrogate pair. */
export function cutText(text: string, max: number): string {
  if (text.length <= max) return text;
  const last = text.charCodeAt(max - 1);
  const isHalf = last >= 0xd800 && last <= 0xdbff;
  return text.slice(0, isHalf ? max - 1 : max);
}

/** A number with its noun: `1 document`, `2,000 documents`. */
export function count(number: number, noun: string, plural = `${noun}s`): string {
  return `${number.toLocaleString('en')} ${number === 1 ? noun : plural}`;
}

/** The choices in a sentence: `a`, `a or b`, `a, b, or c`. Undefined ones are left out. */
export function anyOf(...choices: readonly (string | undefined)[]): string {
  const known = choices.filter((choice) => choice !== undefined);
  if (known.length < 3) return known.join(' or ');
  return `${known.slice(0, -1).join(', ')}, or ${known.at(-1)}`;
}

/** Escapes text for HTML and XML, also within attributes. */
export function escapeMarkup(text: string): string {
  return text.replace(/[&<>"']/g, (character) => `&#${character.charCodeAt(0)};`);
}

/** A text with plain line ends: every `\r\n` is `\n`. */
export function plainEnds(text: string): string {
  return text.replaceAll('\r\n', '\n');
}
