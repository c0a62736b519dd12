import type { Token, Tokens } from 'marked';

/** One of GitHub's alerts: a quote that begins with a line such as `[!NOTE]`. */
export interface Alert {
  readonly kind: string;
  /** In English, as on GitHub. */
  readonly label: string;
  /** What stands below that line. */
  readonly tokens: readonly Token[];
}

const labels: ReadonlyMap<string, string> = new Map([
  ['note', 'Note'],
  ['tip', 'Tip'],
  ['important', 'Important'],
  ['warning', 'Warning'],
  ['caution', 'Caution'],
]);

/** Undefined for any other quote. */
export function tryAlert({ tokens }: Tokens.Blockquote): Alert | undefined {
  const at = tokens.findIndex(({ type }) => type !== 'space');
  const paragraph = tokens[at];
  if (paragraph?.type !== 'paragraph') return undefined;
  const [opening, word] = /^\[!([a-z]{3,9})\][ \t]*(?:\n|$)/i.exec(paragraph.raw) ?? [];
  const kind = word?.toLowerCase() ?? '';
  const label = labels.get(kind);
  if (opening === undefined || label === undefined) return undefined;
  const rest = withoutOpening(paragraph.tokens ?? [], kind.length + '[!]'.length);
  const first = rest.length === 0 ? [] : [{ ...paragraph, tokens: rest }];
  return { kind, label, tokens: [...first, ...tokens.slice(at + 1)] };
}

/** The tokens after the first line, which has this many characters and perhaps spaces at its end. */
function withoutOpening([first, ...rest]: readonly Token[], length: number): Token[] {
  // A definition of a link could make the line something else; then it stays out as a whole.
  const text = first?.type === 'text' ? first.raw.slice(length).trimStart() : '';
  if (text !== '') return [{ type: 'text', raw: text, text }, ...rest];
  return rest[0]?.type === 'br' ? rest.slice(1) : rest;
}
