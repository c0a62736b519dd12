import { wordHash } from '../relevance.ts';

/** Before the number of a pair; no word has it. */
const pairMark = '÷';
/** Few, so that the index stays small. Several pairs share a number. */
const numbers = 4_096;
/** Words that most documents have are short. Of longer ones there are fewer documents, whose texts can be read. */
const maxLength = 6;

/**
 * The entries of the index for adjacent words. They exclude most of the documents that have the words of a phrase
 * apart, so that few texts must be read to find those that have the phrase.
 */
export function pairMarks(words: readonly string[]): Set<string> {
  const marks = new Set<string>();
  for (let at = 1; at < words.length; at++) {
    const [one = '', other = ''] = [words[at - 1], words[at]];
    if (one.length > maxLength || other.length > maxLength) continue;
    marks.add(pairMark + (wordHash(`${one} ${other}`) % numbers).toString(36));
  }
  return marks;
}
