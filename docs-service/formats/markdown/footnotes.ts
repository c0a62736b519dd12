import type { Token, TokenizerAndRendererExtension } from 'marked';

/** What `[^label]: …` says, by its label. It prints nothing in its place. */
export type FootnoteDefinitions = Map<string, readonly Token[]>;

/**
 * The extensions that collect the definitions of one document during the parse, the first of each label. A
 * `footnoteReference` is `[^label]` with a definition; without one it stays text, as on GitHub.
 */
export function footnoteExtensions(definitions: FootnoteDefinitions): TokenizerAndRendererExtension[] {
  return [
    {
      name: 'footnoteDefinition',
      level: 'block',
      start: definitionInParagraph,
      tokenizer(source) {
        const found = readDefinition(source);
        if (!found) return undefined;
        const tokens = this.lexer.blockTokens(found.text, []);
        if (!definitions.has(found.label)) definitions.set(found.label, tokens);
        return { type: 'footnoteDefinition', raw: found.raw, label: found.label, tokens };
      },
    },
    {
      name: 'footnoteReference',
      level: 'inline',
      tokenizer(source) {
        const [raw, label] = /^\[\^([^\]\s<>]{1,100})\]/.exec(source) ?? [];
        if (!raw || !label || !definitions.has(label)) return undefined;
        return { type: 'footnoteReference', raw, label };
      },
    },
  ];
}

/**
 * A definition ends the paragraph before it, even without an empty line between them. Marked asks at each paragraph, so
 * the search ends with it.
 */
function definitionInParagraph(source: string): number | undefined {
  const found = /\n(?:[ \t]*\n|( {0,3}\[\^[^\]\s<>]{1,100}\]:))/.exec(source.slice(0, maxParagraphLength));
  return found?.[1] === undefined ? undefined : found.index + 1;
}

/** In a longer paragraph a definition is found only after an empty line. */
const maxParagraphLength = 20_000;

/** Lines of a definition are indented by four, or continue its paragraph. It reads only lines that belong to it. */
function readDefinition(source: string) {
  const [mark, label] = /^ {0,3}\[\^([^\]\s<>]{1,100})\]:[ \t]*/.exec(source) ?? [];
  if (!mark || !label) return undefined;
  let end = lineEnd(source, mark.length);
  const lines = [source.slice(mark.length, end)];
  for (let next = end; next < source.length; ) {
    const stop = lineEnd(source, next + 1);
    const line = source.slice(next + 1, stop);
    if (line.trim() !== '') {
      const open = next === end && lines.at(-1)?.trim() !== '';
      if (!/^( {4}|\t)/.test(line) && !(open && !startsBlock.test(line))) break;
      for (let blank = source.slice(end, next).split('\n').length; blank > 1; blank -= 1) lines.push('');
      lines.push(line.replace(/^( {4}|\t)/, ''));
      end = stop;
    }
    next = stop;
  }
  return { label, raw: source.slice(0, end + 1), text: lines.join('\n') };
}

const startsBlock =
  /^ {0,3}(\[\^[^\]\s<>]+\]:|#{1,6}(\s|$)|[-*+](\s|$)|\d{1,9}[.)](\s|$)|>|```|~~~|<|\||[-*_=]{3})/;

function lineEnd(source: string, from: number): number {
  const at = source.indexOf('\n', from);
  return at < 0 ? source.length : at;
}
