export interface CodeBlock {
  /** Lines that Rust's tests need and readers do not are marked by `# `. */
  readonly isRust?: boolean;
  /** It begins with options, such as `:caption: text`. */
  readonly hasOptions?: boolean;
}

/** What the opening line of a fence says, in the words of any program, and `text`, its canonical form. */
export function tryFenceInfo(text: string, marker: string) {
  const at = text.indexOf(marker) + marker.length;
  const info = text.slice(at).trim();
  const block: CodeBlock = { isRust: /^rust\b/.test(info), hasOptions: info.startsWith('{') };
  if (!/[{[:=,]/.test(info)) return { text, block, caption: undefined };
  const title = /\btitle\s*=\s*(?:"([^"]*)"|'([^']*)')/.exec(info);
  const [, bracketed] = /\[([^\]]+)\]\s*$/.exec(info) ?? [];
  const caption = title?.[1] ?? title?.[2] ?? bracketed;
  return { text: text.slice(0, at) + languageIn(info), block, caption: caption || undefined };
}

function languageIn(info: string): string {
  const [, directive, argument = ''] =
    /^\{(?:code(?:-block|-cell)?|sourcecode)\}[ \t]*()([\w+#.-]*)/.exec(info) ?? [];
  if (directive !== undefined) return argument;
  const [, classed] = /^\{[ \t]*\.?([\w+#-]+)[^{}]*\}/.exec(info) ?? [];
  if (classed !== undefined) return classed;
  const [word = ''] = /^[^\s{[:,]*/.exec(info) ?? [];
  // What remains has no meaning here, such as the numbers of lines to highlight.
  return word.includes('=') ? '' : word;
}

/** A line of code as readers see it; undefined if it is only a mark for a program. */
export function codeLine(text: string, { isRust = false }: CodeBlock): string | undefined {
  if (isRust && /^\s*#(?:\s|$)/.test(text)) return undefined;
  if (
    /^\s*(?:\/\/|#|--|<!--|\/\*|\{\/\*)\s*highlight-(?:next-line|start|end)\s*(?:-->|\*\/\}?)?\s*$/.test(text)
  )
    return undefined;
  if (!text.includes('[!code')) return text;
  return text.replace(
    /[ \t]*(?:\/\/|#|--|;|<!--|\/\*)[ \t]*\[!code [^\]\n]{1,60}\][ \t]*(?:-->|\*\/)?[ \t]*$/,
    '',
  );
}

/** Of the marks of fences in a text: a fence around it has more. */
export function longestRun(lines: readonly { readonly text: string }[]): number {
  let longest = 0;
  for (const { text } of lines)
    for (const [run] of text.matchAll(/`+|~+/g)) longest = Math.max(longest, run.length);
  return longest;
}
