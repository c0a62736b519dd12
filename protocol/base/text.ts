/** The beginning of a text: at most `max` UTF-16 units, and never half of a surrogate pair. */
export function cutText(text: string, max: number): string {
  if (text.length <= max) return text;
  const last = text.charCodeAt(max - 1);
  const isHalf = last >= 0xd800 && last <= 0xdbff;
  return text.slice(0, isHalf ? max - 1 : max);
}

/**
 * At most `max` UTF-16 units of a text: a quarter from its beginning and the rest from its end, where programs say what
 * went wrong. A note before them says how much is left out; `left` characters were left out of the text before.
 */
export function withoutMiddle(text: string, max: number, left = 0): string {
  if (text.length <= max) return text;
  const note = (more: number) =>
    `[${(left + more).toLocaleString('en-US')} characters are left out after the first part.]\n`;
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

const units = ['B', 'kB', 'MB', 'GB', 'TB'];

/** Such as `5.2 GB` or `123 MB`: bytes in the unit of 1,000 that gives one to three digits before the point. */
export function formatBytes(bytes: number): string {
  const power = powerOf(bytes);
  return `${inUnit(bytes, power, digitsOf(bytes, power))} ${units[power]}`;
}

/** Such as `1.2 of 4.7 GB`, both in the unit of the total; at most 15 characters below a thousand terabytes. */
export function formatShare(completed: number, total: number): string {
  const power = powerOf(total);
  const digits = digitsOf(total, power);
  return `${inUnit(completed, power, digits)} of ${inUnit(total, power, digits)} ${units[power]}`;
}

/** Of a thousand, for the unit. */
function powerOf(bytes: number): number {
  const power = Math.floor(Math.log10(Math.max(1, bytes)) / 3);
  // What is rounded to 1000 is 1.0 of the next unit.
  const whole = Math.round(bytes / 1000 ** power) === 1000 ? power + 1 : power;
  return Math.min(units.length - 1, whole);
}

/** Digits behind the point: none where three stand before it, also once it is rounded. */
function digitsOf(bytes: number, power: number): number {
  return power === 0 || bytes / 1000 ** power >= 99.95 ? 0 : 1;
}

function inUnit(bytes: number, power: number, digits: number): string {
  return (bytes / 1000 ** power).toFixed(digits);
}

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

/** What an error says, whatever was thrown. */
export function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

/** For a log: with the stack, if there is one. */
export function stackOf(error: unknown): string {
  return error instanceof Error ? error.stack || error.message : String(error);
}

/** The result of a function; undefined if it throws. */
export function tryNow<Result>(read: () => Result): Result | undefined {
  try {
    return read();
  } catch {
    return undefined;
  }
}
