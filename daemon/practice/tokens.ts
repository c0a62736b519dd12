/** An estimate that is good enough to fill windows: four characters are about one token. */
export function countTokens(text: string): number {
  return Math.ceil(text.length / 4);
}

/** Splits text into pieces as a model would say it: each word with the blanks before it. */
export function splitTokens(text: string): readonly string[] {
  return text.match(/\s*\S+|\s+$/g) ?? [];
}
