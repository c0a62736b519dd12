import { greater, less } from '../characters.ts';
import type { ElementForm } from '../family.ts';
import { CallRefusal, over, type Reading, type Source } from '../source.ts';

const maxTitleLength = 256;

/** The name in a tag, and what its attributes say. */
export interface Title {
  readonly name: string;
  /** An attribute says that the value is a string. */
  readonly isString?: boolean;
}

/** What was read of the rest of a tag. */
interface TagRest {
  readonly text: string;
  /** The title of the tag, if it is one. */
  readonly title?: RawTitle;
}

/** The text up to the end of a tag, or up to a value that began instead of the end (`isOpen`). */
export interface RawTitle {
  readonly raw: string;
  readonly isOpen: boolean;
}

/** Reads the rest of a tag that holds a name. */
export function* readTagRest(source: Source, { tagEnd, valueOpen }: ElementForm): Reading<TagRest> {
  let text = '';
  for (;;) {
    while (source.isDry) yield;
    // Glimmer may write a mark of its headers into a name.
    const isQuoted = /^\s*["'][\w.-]+(?:<[|\w]*)?$/.test(text);
    const isBroken = source.code === less && tagEnd.charCodeAt(0) === greater && !isQuoted;
    if (source.code === over || isBroken || text.length > maxTitleLength) return { text };
    text += source.character;
    source.at++;
    const isOpen = valueOpen !== undefined && text.endsWith(valueOpen);
    if (!isOpen && (!text.endsWith(tagEnd) || /["'][\w.-]+<\|message\|>$/.test(text))) continue;
    const raw = text.slice(0, -(isOpen ? valueOpen : tagEnd).length).replace('<|message|>', '');
    return { text, title: { raw, isOpen } };
  }
}

/** The same, refusing what is not a tag. */
export function* readTitle(source: Source, form: ElementForm): Reading<RawTitle> {
  const { title } = yield* readTagRest(source, form);
  if (title === undefined) throw new CallRefusal(source.code === over ? 'cut' : 'mention');
  return title;
}

const attributes = /^(?:\s+(?:string|type|index)\s*=\s*(["'])\w*\1)*\s*$/;

/** The name in a tag: either a quoted name, with attributes that say nothing about the value, or the whole text. */
export function titleOf(raw: string): Title | undefined {
  const quoted = /^\s*(["'])([^"'\n]*)\1(.*)$/s.exec(raw);
  if (quoted === null) return /["'<>=]/.test(raw) || raw.trim() === '' ? undefined : { name: raw.trim() };
  const [, , name = '', rest = ''] = quoted;
  if (!attributes.test(rest)) return undefined;
  return { name, isString: /string\s*=\s*["']true|type\s*=\s*["']string/.test(rest) };
}
