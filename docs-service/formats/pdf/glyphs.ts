/** A character as it is looked up in fonts, and a plainer one with the same meaning. */
interface Glyph {
  readonly text: string;
  readonly alternative?: string;
}

/** Splits a text into glyphs, without characters that only change the one before them or print nothing. */
export function glyphsOf(text: string): Glyph[] {
  const glyphs: Glyph[] = [];
  for (const character of plainGlyphs(text)) {
    const alternative = alternatives.get(character);
    glyphs.push(alternative ? { text: character, alternative } : { text: character });
  }
  return glyphs;
}

/** Composed, without what prints nothing: joiners, soft hyphens, direction marks, colours of skin, frames of keys. */
export function plainGlyphs(text: string): string {
  if (/^[\n -~]*$/.test(text)) return text;
  return text.normalize('NFC').replace(unprinted, '').replace(spaces, ' ');
}

const unprinted = /[\p{Default_Ignorable_Code_Point}\p{Emoji_Modifier}]|\u20e3/gu;
const spaces = /[\t\u2000-\u200a\u202f\u205f\u3000]/g;

/** Characters that many fonts lack. */
const alternatives: ReadonlyMap<string, string> = new Map([
  ['\u2011', '-'],
  ['\u2010', '-'],
]);
