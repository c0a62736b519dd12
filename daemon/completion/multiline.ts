import { isClosersOrBlank } from './closers.ts';
import type { Surroundings } from './surroundings.ts';

/** How lines of comment begin, by language; `//` where nothing is said. */
const commentMarks: readonly { readonly languages: RegExp; readonly marks: readonly string[] }[] = [
  {
    languages:
      /^(python|ruby|perl|r|julia|elixir|shellscript|sh|bash|zsh|fish|yaml|toml|makefile|dockerfile|modelfile|cmake|powershell|nix|tcl|coffeescript|graphql|terraform|conf|properties)$/,
    marks: ['#'],
  },
  { languages: /^(lua|sql|haskell|ada|vhdl|elm)$/, marks: ['--'] },
  { languages: /^(lisp|clojure|scheme|racket|elisp|asm|ini)$/, marks: [';'] },
  { languages: /^(latex|tex|erlang|matlab|prolog)$/, marks: ['%'] },
  { languages: /^(php)$/, marks: ['//', '#'] },
  { languages: /^(vb|basic)$/, marks: ["'"] },
  { languages: /^(vim|viml)$/, marks: ['"'] },
  { languages: /^(markdown|plaintext|text|html|xml|json|css)$/, marks: [] },
];

/** Several lines only where nothing but closers follows on the line, and the line is no comment. */
export function isMultiline({ linePrefix, lineSuffix, languageId }: Surroundings): boolean {
  return isClosersOrBlank(lineSuffix) && !isLineComment(linePrefix, languageId);
}

function isLineComment(linePrefix: string, languageId: string): boolean {
  const known = commentMarks.find(({ languages }) => languages.test(languageId.toLowerCase()));
  const line = linePrefix.trimStart();
  return (known?.marks ?? ['//']).some((mark) => line.startsWith(mark));
}
