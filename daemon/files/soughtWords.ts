/** At most this many words of a question are looked for. */
const maxWords = 24;
/** In characters: the end of a longer question says no more about it. */
const maxText = 4_000;

/**
 * The words of a question that are worth looking for, in lower case and without their endings, so that `handled` finds
 * `handler`. A name in code counts as a whole and by its parts.
 */
export function soughtWords(text: string): readonly string[] {
  const words = [...text.slice(0, maxText).matchAll(/[\p{L}\p{N}_$]+/gu)].flatMap(([word]) => partsOf(word));
  const sought = words.filter((word) => word.length > 2 && !common.has(word)).map(stemOf);
  return [...new Set(sought)].slice(0, maxWords);
}

/** `readUserFile` is also `read`, `user` and `file`. */
function partsOf(word: string): readonly string[] {
  const parts = word.match(/\p{Lu}+(?!\p{Ll})|\p{Lu}?\p{Ll}+|[^\p{Lu}\p{Ll}_$]+/gu) ?? [];
  return [...(parts.length > 1 ? [word] : []), ...parts].map((part) => part.toLowerCase());
}

function stemOf(word: string): string {
  const [, stem = word] = /^(.{3,}?)(?:ing|ied|ies|ed|es|ers?|s|e|y)$/.exec(word) ?? [];
  return stem;
}

/** Words that questions have and that say nothing about what is asked. */
const common: ReadonlySet<string> = new Set(
  `about after all also and any are because been before being between both but can codebase could did does done each
  explain file files find for from get give had has have here how into its just know like list look made make many may
  mean might more most much must need not now off one only other our out over please project shall should show some
  such tell than that the their them then there these they this those through under use used uses using very want was
  way were what when where whether which while who whose why will with within without work works would write you your`.split(
    /\s+/,
  ),
);
