/**
 * Cuts long words where a line may break inside them: after the punctuation of names and addresses, and before a
 * capital in code. Between the parts it puts an empty one, after which PDFMake may begin a new line. Words without such
 * a place are cut into lengths that PDFMake fills lines with. Its time is proportional to their length.
 */
export function breakable(text: string, code: boolean): string[] {
  if (!(code ? /[^ \n]{17}/ : /[^ \n]{25}/).test(text)) return [text];
  const parts: string[] = [];
  let start = 0;
  let word = 0;
  for (let at = 0; at < text.length; at++) {
    const character = text.charAt(at);
    if (character === ' ' || character === '\n') {
      word = 0;
      continue;
    }
    word += 1;
    const goesOn = () => text.length > at + 3 && !/\s/.test(text.slice(at + 1, at + 4));
    if (word > 3 && isBreak(text, at, code) && goesOn()) {
      parts.push(text.slice(start, at + 1), '');
      start = at + 1;
      word = 0;
    } else if (at - start >= maxPart && !/[\udc00-\udfff]/.test(character)) {
      parts.push(text.slice(start, at));
      start = at;
    }
  }
  parts.push(text.slice(start));
  return parts;
}

const maxPart = 400;

function isBreak(text: string, at: number, code: boolean): boolean {
  const [character, next] = [text.charAt(at), text.charAt(at + 1)];
  if (signs.test(character)) return !signs.test(next) && !(/\d/.test(next) && /\d/.test(text.charAt(at - 1)));
  return code && /[a-z0-9]/.test(character) && /[A-Z]/.test(next);
}

const signs = /[/._\-:,;=&?#@\\)\]}>|+]/;
