/**
 * A sentence for a notification or a progress title. The editor reads links in them, even links that run commands, and
 * parts of the sentence may come from a server.
 */
export function plain(sentence: string): string {
  return sentence.replaceAll('](', '] (');
}
