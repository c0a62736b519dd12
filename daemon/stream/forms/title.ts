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
export interface TagRest {
  readonly text: string;
  /** The text up to the end of the tag; undefined if it is not a tag. */
  readonly raw?: string;
  /** Whether a value began instead of the end. */
  readonly isOpen?: true;
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
    if (text.endsWith(tagEnd) && !/["'][\w.-]+<\|message\|>$/.test(text))
      return { text, raw: text.slice(0, -tagEnd.length).replace('<|message|>', '') };
    if (valueOpen !== undefined && text.endsWith(valueOpen))
      return { text, raw: text.slice(0, -valueOpen.length), isOpen: true };
  }
}

/** The same, refusing what is not a tag. */
export function* readTitle(source: Source, form: ElementForm): Reading<{ raw: string; isOpen?: true }> {
  const { raw, isOpen } = yield* readTagRest(source, form);
  if (raw === undefined) throw new CallRefusal(source.code === over ? 'cut' : 'mention');
  return { raw, ...(isOpen ? { isOpen } : {}) };
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
