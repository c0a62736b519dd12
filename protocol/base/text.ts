/** The beginning of a text: at most `max` UTF-16 units, and never half of a surrogate pair. */
export function cutText(text: string, max: number): string {
  if (text.length <= max) return text;
  const last = text.charCodeAt(max - 1);
  const isHalf = last >= 0xd800 && last <= 0xdbff;
  return text.slice(0, isHalf ? max - 1 : max);
}

/**
 * At most `max` UTF-16 units of a text: a quarter from its beginning and the rest from its end, where programs say what
 * went wrong. A note before them says how much is left out.
 */
export function withoutMiddle(text: string, max: number): string {
  if (text.length <= max) return text;
  const note = (left: number) =>
    `[${left.toLocaleString('en-US')} characters are left out after the first part.]\n`;
  const room = Math.max(0, max - note(text.length).length - 3);
  const head = cutText(text, Math.floor(room / 4));
  const tail = text.slice(text.length - (room - head.length)).replace(/^[\udc00-\udfff]/, '');
  return `${note(text.length - head.length - tail.length)}${head}\n…\n${tail}`;
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
