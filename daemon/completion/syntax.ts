/** Brackets, quotes and marks that end something, and blanks: they are not code of their own. */
const closersOrBlank = /^[)\]}>"'`;,:\s]*$/;

export function isClosersOrBlank(text: string): boolean {
  return closersOrBlank.test(text);
}

/** Whether a word goes on from the end of one text to the beginning of the other. */
export function isInsideWord(before: string, after: string): boolean {
  return /[\p{L}\p{M}\p{N}_$]$/u.test(before.slice(-2)) && /^[\p{L}\p{M}\p{N}_$]/u.test(after.slice(0, 2));
}

/** The bracket that each closing one belongs to. */
const openerOf: Readonly<Record<string, string>> = { ')': '(', ']': '[', '}': '{' };
const openers = new Set(Object.values(openerOf));

/**
 * The offsets of the closers of brackets and quotes that were opened before the text. Brackets within quotes do not
 * count. A quote ends with its line, unless it is a backtick.
 * @param quote The quote that is open where the text begins, `''` for none.
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

/** An apostrophe after a word opens nothing, unless the word is a prefix of strings, such as Python's `f`. */
function opensQuote(text: string, at: number): boolean {
  const character = text.charAt(at);
  if (character !== "'") return character === '"' || character === '`';
  const before = text.slice(Math.max(0, at - 3), at);
  return !/[\p{L}\p{N}]$/u.test(before) || /(^|[^\p{L}\p{N}_])[bfru]{1,2}$/iu.test(before);
}

/** The marks at the start of a comment line, by language. */
const marksByLanguage: readonly { readonly languages: RegExp; readonly marks: readonly string[] }[] = [
  {
    languages:
      /^(python|ruby|c?perl|r|julia|elixir|shell-?script|sh|bash|zsh|fish|yaml|toml|makefile|dockerfile|modelfile|cmake|powershell|nix|tcl|coffeescript|graphql|terraform|conf|properties)$/,
    marks: ['#'],
  },
  { languages: /^(lua|sql|haskell|ada|vhdl|elm)$/, marks: ['--'] },
  { languages: /^((emacs-|common-)?lisp|clojure|scheme|racket|elisp|asm|ini)$/, marks: [';'] },
  { languages: /^(latex|tex|erlang|matlab|prolog)$/, marks: ['%'] },
  { languages: /^(php)$/, marks: ['//', '#'] },
  { languages: /^(vb|basic)$/, marks: ["'"] },
  { languages: /^(fortran(-modern)?|f90)$/, marks: ['!'] },
  { languages: /^(ocaml|tuareg)$/, marks: [] },
  { languages: /^(vim|viml)$/, marks: ['"'] },
  { languages: /^(markdown|plaintext|text|html|xml|json|css)$/, marks: [] },
];

/** The marks with which a comment line may begin: none in some languages, `//` in those that are not listed. */
export function commentMarks(languageId: string): readonly string[] {
  const name = languageId.toLowerCase().replace(/-(?:ts|mode)$/, '');
  const known = marksByLanguage.find(({ languages }) => languages.test(name));
  return known?.marks ?? ['//'];
}
