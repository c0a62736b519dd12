/** How lines of comment begin, by language; `//` where nothing is said. */
const marksByLanguage: readonly { readonly languages: RegExp; readonly marks: readonly string[] }[] = [
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

/** The marks with which a line of comment may begin; none where a language has no such lines. */
export function commentMarks(languageId: string): readonly string[] {
  const known = marksByLanguage.find(({ languages }) => languages.test(languageId.toLowerCase()));
  return known?.marks ?? ['//'];
}
