/** An estimate that is good enough to fill windows with: four characters are about one token. */
export function countTokens(text: string): number {
  return Math.ceil(text.length / 4);
}

/** Text in the pieces in which a model would say it: a word with the blanks before it. */
export function splitTokens(text: string): readonly string[] {
  return text.match(/\s*\S+|\s+$/g) ?? [];
}
