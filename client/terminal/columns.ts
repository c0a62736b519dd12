/** East Asian wide and fullwidth characters and pictographs: two columns each. */
const wide =
  /[\u1100-\u115f\u2e80-\u303e\u3041-\u33ff\u3400-\u4dbf\u4e00-\u9fff\ua000-\ua4cf\uac00-\ud7a3\uf900-\ufaff\ufe30-\ufe6f\uff00-\uff60\uffe0-\uffe6]|\p{Emoji_Presentation}/u;
const none = /^(?:\p{Mark}|[\u200b\u200c\u200d])$/u;
const ideograph = /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Hangul}\u3000-\u303f]/u;

/** How many columns of a terminal a text takes; it has no control characters. */
export function columnsOf(text: string): number {
  if (/^[\u0020-\u007e]*$/.test(text)) return text.length;
  let columns = 0;
  for (const character of text) columns += none.test(character) ? 0 : wide.test(character) ? 2 : 1;
  return columns;
}

/** Whether a character belongs to a script that is written without blanks: a line may be broken around it. */
export function isIdeograph(character: string): boolean {
  return character > '\u10ff' && ideograph.test(character);
}

/** As much of a text as fits, with an ellipsis where something is missing. */
export function cutTo(text: string, columns: number): string {
  if (columnsOf(text) <= columns) return text;
  if (columns < 1) return '';
  let [kept, taken] = ['', 0];
  for (const character of text) {
    taken += columnsOf(character);
    if (taken > columns - 1) break;
    kept += character;
  }
  return `${kept}…`;
}

export function padEnd(text: string, columns: number): string {
  return text + ' '.repeat(Math.max(0, columns - columnsOf(text)));
}

export function padStart(text: string, columns: number): string {
  return ' '.repeat(Math.max(0, columns - columnsOf(text))) + text;
}
