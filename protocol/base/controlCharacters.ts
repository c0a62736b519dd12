/**
 * Everything that could drive a terminal or turn text around: C0 and C1 controls but line feed and tab, and bidi
 * overrides.
 */
const unsafe = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]/g;

/** Makes control characters of a text visible; `\r\n` becomes `\n`. */
export function showControls(text: string): string {
  return text.replaceAll('\r\n', '\n').replace(unsafe, visible);
}

/** Of what is a line by its nature, such as a name or a sentence: a line feed or a tab is a blank. */
export function showLine(text: string): string {
  return showControls(text).replace(/[\n\t]+/g, ' ');
}

/** The same JSON, with these characters as the escapes that JSON has for them. It must not have line feeds inside. */
export function escapeControlsInJson(json: string): string {
  return json.replace(unsafe, (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`);
}

function visible(character: string): string {
  const code = character.charCodeAt(0);
  if (code < 0x20) return String.fromCharCode(0x2400 + code);
  if (code === 0x7f) return '\u2421';
  return `<U+${code.toString(16).toUpperCase().padStart(4, '0')}>`;
}
