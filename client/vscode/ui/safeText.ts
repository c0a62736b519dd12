// Text that others wrote, made safe for places in which the editor reads markup.

/** A sentence for a notification or a progress title, in which the editor reads links, even links that run commands. */
export function plain(sentence: string): string {
  return sentence.replaceAll('](', '] (');
}

/** For a Markdown string. */
export function escapeMarkdown(text: string): string {
  return text.replace(/[\\`*_{}[\]()#+\-!|<>]/g, '\\$&');
}

/**
 * For a Markdown string in which `$(name)` is an icon. Without a change, the editor would replace `$(pwd)` with an
 * icon, even in code. The inserted character has no width.
 */
export function withoutIcons(text: string): string {
  return text.replace(/\$(?=\\?\()/g, '$\u2060');
}

/** The status bar cuts a longer text. */
export function firstSentence(text: string): string {
  const end = text.indexOf('. ');
  return end < 0 ? text : text.slice(0, end + 1);
}
