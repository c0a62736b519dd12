/**
 * A sentence for a notification or a progress title. The editor reads links in them, even links that run commands, and
 * parts of the sentence may come from a server.
 */
export function plain(sentence: string): string {
  return sentence.replaceAll('](', '] (');
}

/** The status bar cuts a longer text. */
export function firstSentence(text: string): string {
  const end = text.indexOf('. ');
  return end < 0 ? text : text.slice(0, end + 1);
}
