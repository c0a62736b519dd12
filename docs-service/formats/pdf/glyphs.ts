/** A character as it is looked up in fonts, and a plainer one with the same meaning. */
interface Glyph {
  readonly text: string;
  readonly alternative?: string;
}

/** Splits a text into glyphs, without characters that only change the one before them or print nothing. */
export function glyphsOf(text: string): Glyph[] {
  const glyphs: Glyph[] = [];
  for (const character of plainGlyphs(text)) {
    const alternative = alternatives.get(character) ?? regionalLetter(character);
    glyphs.push(alternative ? { text: character, alternative } : { text: character });
  }
  return glyphs;
}

/** Composed, without variation selectors, joiners, direction marks, soft hyphens and colours of skin. */
export function plainGlyphs(text: string): string {
  if (/^[\n -~]*$/.test(text)) return text;
  return text.normalize('NFC').replace(unprinted, '').replace(spaces, ' ');
}

const unprinted = /[\p{Default_Ignorable_Code_Point}\p{Emoji_Modifier}]/gu;
const spaces = /[\t\u2000-\u200a\u202f\u205f\u3000]/g;

/** Emoji for which most machines have no font without colours, and characters that the program's own fonts have. */
const alternatives: ReadonlyMap<string, string> = new Map([
  ['✅', '✔'],
  ['☑', '✔'],
  ['❌', '✘'],
  ['❎', '✘'],
  ['⭐', '★'],
  ['🌟', '★'],
  ['❤', '♥'],
  ['🔴', '●'],
  ['🟢', '●'],
  ['🟡', '●'],
  ['🔵', '●'],
  ['⬛', '■'],
  ['⬜', '□'],
  ['➡', '→'],
  ['⬅', '←'],
  ['👉', '☞'],
  ['👈', '☜'],
  ['ℹ', 'i'],
  ['➕', '+'],
  ['➖', '−'],
  ['✖', '×'],
  ['🚫', '⊘'],
  ['\u2011', '-'],
  ['\u2010', '-'],
]);

/** A flag is a pair of these. */
function regionalLetter(character: string): string | undefined {
  const codePoint = character.codePointAt(0) ?? 0;
  return codePoint >= 0x1f1e6 && codePoint <= 0x1f1ff
    ? String.fromCodePoint(codePoint - 0x1f1e6 + 65)
    : undefined;
}
