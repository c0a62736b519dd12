/** `{{name}}`, also with blanks inside of the braces. */
const placeholder = /\{\{[ \t]*([A-Za-z][A-Za-z0-9_-]{0,63})[ \t]*\}\}/g;

/** The names in a text, in their order. */
export function placeholdersIn(text: string): readonly string[] {
  return [...text.matchAll(placeholder)].map(([, name = '']) => name);
}

/**
 * Puts each value where its name stands. It goes over the text once, so that nothing in a value is replaced. A name
 * without a value here stays as it is.
 */
export function fillPlaceholders(text: string, values: ReadonlyMap<string, string>): string {
  return text.replace(placeholder, (written, name: string) => values.get(name) ?? written);
}

/** In UTF-16 units, how long the filled text will be. */
export function filledLength(text: string, values: ReadonlyMap<string, string>): number {
  return [...text.matchAll(placeholder)].reduce((length, [written, name = '']) => {
    const value = values.get(name);
    return value === undefined ? length : length - written.length + value.length;
  }, text.length);
}
