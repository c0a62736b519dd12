/** Brackets, quotes and marks that end what was begun before them, and blanks; nothing of it is code of its own. */
const closersOrBlank = /^[)\]}>"'`;,:\s]*$/;

export function isClosersOrBlank(text: string): boolean {
  return closersOrBlank.test(text);
}

/** The bracket that each closing one belongs to. */
const openerOf: Readonly<Record<string, string>> = { ')': '(', ']': '[', '}': '{' };
const openers = new Set(Object.values(openerOf));

/**
 * Where the text closes brackets and quotes that were opened before it: the offsets of their closers. Brackets within
 * quotes do not count; a quote other than a backtick ends with its line.
 * @param quote The quote in which the text begins, `''` for none.
 */
export function strayClosers(text: string, quote: string): readonly number[] {
  const stray: number[] = [];
  const open: string[] = [];
  let inside = quote;
  let isOwn = false;
  for (let at = 0; at < text.length; at += 1) {
    const character = text.charAt(at);
    if (character === '\\') at += 1;
    else if (inside !== '') {
      if (character === inside && !isOwn) stray.push(at);
      if (character === inside || (character === '\n' && inside !== '`')) inside = '';
    } else if (opensQuote(text, at)) {
      inside = character;
      isOwn = true;
    } else if (openers.has(character)) open.push(character);
    else if (openerOf[character] !== undefined) {
      if (open.at(-1) === openerOf[character]) open.pop();
      else stray.push(at);
    }
  }
  return stray;
}

/** The quote that is open at the end of a part of a line, `''` for none. */
export function openQuote(line: string): string {
  let inside = '';
  for (let at = 0; at < line.length; at += 1) {
    const character = line.charAt(at);
    if (character === '\\') at += 1;
    else if (inside === '') inside = opensQuote(line, at) ? character : '';
    else if (character === inside) inside = '';
  }
  return inside;
}

/** An apostrophe after a word opens nothing, unless the word is a string's prefix such as Python's `f`. */
function opensQuote(text: string, at: number): boolean {
  const character = text.charAt(at);
  if (character !== "'") return character === '"' || character === '`';
  const before = text.slice(Math.max(0, at - 3), at);
  return !/[\p{L}\p{N}]$/u.test(before) || /(^|[^\p{L}\p{N}_])[bfru]{1,2}$/iu.test(before);
}
