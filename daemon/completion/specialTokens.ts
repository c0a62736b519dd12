/** Tokens that are no text in any code: those of many families, whichever the model is of. */
const specialToken =
  /<\|[\w▁-]{1,40}\|>|<｜[^｜\n]{1,40}｜>|<fim_(?:prefix|suffix|middle|pad)>|<(?:EOT|end_of_turn|start_of_turn)>/;

/** In UTF-16 units: no token is longer. */
export const longestToken = 64;

/** Where the first special token begins, one of the model's family or a known one of others, or -1. */
export function findSpecialToken(text: string, stops: readonly string[]): number {
  const places = [text.search(specialToken), ...stops.map((stop) => text.indexOf(stop))];
  return places.reduce((first, at) => (at !== -1 && (first === -1 || at < first) ? at : first), -1);
}

/** Without the special tokens that a text begins with. */
export function withoutLeadingTokens(text: string): string {
  let at = 0;
  for (;;) {
    const match = specialToken.exec(text.slice(at, at + longestToken));
    if (match?.index !== 0) return text.slice(at);
    at += match[0].length;
  }
}
