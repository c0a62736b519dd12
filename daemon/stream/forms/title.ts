import { greater } from '../characters.ts';
import type { ElementForm } from '../family.ts';
import { CallRefusal, type Reading, type Source, take } from '../source.ts';

const maxTitleLength = 256;

/** The name in a tag, and what its attributes say. */
export interface Title {
  readonly name: string;
  /** An attribute says that the value is a string. */
  readonly isString?: boolean;
}

/** The text between the start of a tag and its end. `isOpen` means that a value began instead of the end. */
interface RawTitle {
  readonly raw: string;
  readonly isOpen: boolean;
}

export function* readTitle(source: Source, { tagEnd, valueOpen }: ElementForm): Reading<RawTitle> {
  let title = '';
  for (;;) {
    const character = yield* take(source);
    // Glimmer may write a mark of its headers into a name.
    const isQuoted = /^\s*["'][\w.-]+(?:<[|\w]*)?$/.test(title);
    if (character === '<' && tagEnd.charCodeAt(0) === greater && !isQuoted)
      throw new CallRefusal('mention', source.offset - 1);
    title += character;
    if (title.endsWith(tagEnd) && !/["'][\w.-]+<\|message\|>$/.test(title))
      return { raw: title.slice(0, -tagEnd.length).replace('<|message|>', ''), isOpen: false };
    if (valueOpen !== undefined && title.endsWith(valueOpen))
      return { raw: title.slice(0, -valueOpen.length), isOpen: true };
    if (title.length > maxTitleLength) throw new CallRefusal('mention');
  }
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
