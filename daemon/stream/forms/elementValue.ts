import { LongText, less } from '../characters.ts';
import { tagPrefix } from '../families.ts';
import { CallRefusal, over, type Reading, type Source } from '../source.ts';

const maxTagLength = 256;
/** The same depth as for other values. */
const maxDepth = 64;

/**
 * Reads the value of the element `<name>`, up to its close tag. The value is text, or elements if their tags have the
 * prefix.
 */
export function* readElementValue(source: Source, name: string): Reading<unknown> {
  const text = new LongText();
  const close = `</${name}>`;
  let depth = 0;
  /** The end of the text, which may be a prefix. */
  let tail = '';
  const add = (piece: string) => {
    text.add(piece);
    tail = (tail + piece).slice(-tagPrefix.length);
  };
  for (;;) {
    while (source.isDry) yield;
    if (source.code === over) throw new CallRefusal('cut');
    add(source.takeUntil((code) => code === less));
    if (source.isDry || source.code === over) continue;
    const tag = yield* readTag(source);
    if (tag === close && depth-- === 0) return parsedValue(text.toString(), source);
    // Only a tag with the prefix opens another element of the same name.
    if (tag === `<${name}>` && tail === tagPrefix) depth++;
    add(tag);
  }
}

/** Reads a tag, as far as it is one. */
export function* readTag(source: Source): Reading<string> {
  let tag = '';
  for (;;) {
    while (source.isDry) yield;
    if (source.code === over || (tag !== '' && source.code === less) || tag.length > maxTagLength) return tag;
    tag += source.character;
    source.at++;
    if (tag.endsWith('>')) return tag;
  }
}

interface Element {
  readonly name: string;
  readonly children: [string, unknown][];
  text: string;
}

function parsedValue(text: string, source: Source): unknown {
  const body = text.endsWith(tagPrefix) ? text.slice(0, -tagPrefix.length) : text;
  if (!body.includes(tagPrefix)) return body;
  const top: Element = { name: '', children: [], text: '' };
  const open: Element[] = [top];
  for (const piece of body.split(tagPrefix)) {
    source.countPart();
    take(piece, open);
  }
  if (open.length !== 1) throw new CallRefusal('malformed');
  return finished(top);
}

/** Takes a piece, which begins with the tag after a prefix. */
function take(piece: string, open: Element[]): void {
  const tag = /^<(\/?)([^<>/\s]+)>/.exec(piece);
  const last = open.at(-1);
  if (last === undefined) throw new CallRefusal('malformed');
  if (open.length > maxDepth) throw new CallRefusal('malformed');
  if (tag === null) last.text += piece;
  else if (tag[1] === '') open.push({ name: tag[2] ?? '', children: [], text: piece.slice(tag[0].length) });
  else {
    const parent = open.at(-2);
    if (last.name !== tag[2] || parent === undefined) throw new CallRefusal('malformed');
    open.pop();
    parent.children.push([last.name, finished(last)]);
    parent.text += piece.slice(tag[0].length);
  }
}

/**
 * Items become a list, and other elements an object, in which elements of one name are a list. Words beside them are a
 * mistake.
 */
function finished({ children, text }: Element): unknown {
  if (children.length === 0) return text;
  if (text.trim() !== '') throw new CallRefusal('malformed');
  if (children.every(([name]) => name === 'item')) return children.map(([, value]) => value);
  const values = new Map<string, unknown[]>();
  for (const [name, value] of children) {
    const same = values.get(name);
    if (same === undefined) values.set(name, [value]);
    else same.push(value);
  }
  return Object.fromEntries([...values].map(([name, all]) => [name, all.length === 1 ? all[0] : all]));
}
