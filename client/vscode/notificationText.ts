/**
 * A sentence for a notification or a progress title. The editor reads links in them, also such that run commands, and
 * parts of a sentence may be a server's words.
 */
export function plain(sentence: string): string {
  return sentence.replaceAll('](', '] (');
}
