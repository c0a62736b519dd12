/**
 * Reads what the user typed behind the name of a prompt. Words fill the arguments in their order; `name=value` fills
 * the one that it names. A word with blanks stands in quotes. What is left when only one argument is open is its value,
 * just as it was typed, so nothing is lost.
 */
export function readTypedArguments(typed: string, names: readonly string[]): ReadonlyMap<string, string> {
  const values = new Map<string, string>();
  let rest = typed.trim();
  while (rest !== '' && values.size < names.length) {
    const open = names.filter((name) => !values.has(name));
    const named = open.find((name) => rest.startsWith(`${name}=`));
    const name = named ?? open[0] ?? '';
    if (named !== undefined) rest = rest.slice(named.length + 1);
    const [value, length] = open.length === 1 ? readRest(rest) : readWord(rest);
    values.set(name, value);
    rest = rest.slice(length).trimStart();
  }
  return values;
}

/** A word in quotes ends at a blank or at the end. There, a backslash stands before a quote or a backslash. */
const quoted = /^(?:"((?:[^"\\]|\\[\s\S])*)"|'([^']*)')(?=\s|$)/;

/** The first word, and how many characters it takes. A quote that is not closed is a character like any other. */
function readWord(text: string): readonly [value: string, length: number] {
  const found = quoted.exec(text);
  if (found) {
    const [whole, double, single = ''] = found;
    return [double?.replace(/\\(["\\])/g, '$1') ?? single, whole.length];
  }
  const [word = ''] = /^\S*/.exec(text) ?? [];
  return [word, word.length];
}

/** All of it; without its quotes, if it is one word in quotes. */
function readRest(text: string): readonly [value: string, length: number] {
  const begun = text.trimStart();
  const [value, length] = readWord(begun);
  return [length === begun.length ? value : begun, text.length];
}
