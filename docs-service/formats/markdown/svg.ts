import { Parser } from 'htmlparser2';
import { withoutIllegalCharacters } from '../../content/inlineText.ts';
import { escapeXml } from './xmlText.ts';

/**
 * An SVG rewritten with only what draws: no script, no events, no addresses except those inside the picture. The result
 * is well-formed. Undefined if the text is not an SVG or is nested out of bounds.
 */
export function sanitiseSvg(
  text: string,
): { readonly text: string; readonly width: number | null; readonly height: number | null } | undefined {
  const writer = new SvgWriter();
  const parser = new Parser(writer, { xmlMode: true, decodeEntities: true });
  parser.write(withEntities(withoutIllegalCharacters(text)));
  parser.end();
  return writer.result();
}

/** The text with the entities that it declares itself, such as colours. Those that contain others stay as they are. */
function withEntities(text: string): string {
  const [declarations] = /<!DOCTYPE[^[>]*\[[^\]]*\]\s*>/i.exec(text) ?? [];
  if (declarations === undefined) return text;
  const declared = declarations.matchAll(/<!ENTITY\s+([\w.-]+)\s+(["'])([^"'&<]{0,256})\2\s*>/g);
  const values = new Map(Array.from(declared, ([, name, , value]) => [name, value]));
  let room = maxEntityText;
  return text.replace(declarations, '').replace(/&([\w.-]+);/g, (reference, name: string) => {
    const value = values.get(name) ?? reference;
    room -= value.length;
    return room > 0 ? value : reference;
  });
}

/** In characters, so that no picture becomes much larger than its file. */
const maxEntityText = 1_000_000;
const maxDepth = 100;
const elements = new Set(
  (
    'svg g switch defs symbol use path rect circle ellipse line polyline polygon text tspan textPath title desc style ' +
    'linearGradient radialGradient stop pattern clipPath mask marker filter feBlend feColorMatrix ' +
    'feComponentTransfer feComposite feDropShadow feFlood feFuncA feFuncB feFuncG feFuncR feGaussianBlur feMerge ' +
    'feMergeNode feMorphology feOffset feTurbulence'
  ).split(' '),
);

class SvgWriter {
  readonly #parts: string[] = [];
  readonly #open: string[] = [];
  readonly #ids = new Set<string>();
  /** The number of open elements inside a part that is left out. */
  #skipped = 0;
  /** The text of a style element so far: it arrives in pieces. */
  #style = '';
  #size: { width: number | null; height: number | null } | undefined;
  #isBroken = false;
  /** Text in HTML, which only browsers set. */
  #label: { readonly attributes: Record<string, string>; text: string } | undefined;

  onopentag(name: string, attributes: Record<string, string>): void {
    const local = name.replace(/^svg:/, '');
    // In a switch, another element stands for it.
    const isLabel = local === 'foreignObject' && this.#open.at(-1) !== 'switch';
    if (isLabel && !this.#skipped) this.#label = { attributes, text: '' };
    if (this.#label && breaks.has(local)) this.#label.text += '\n';
    if (local === 'script' || local === 'style') this.#label = undefined;
    if (this.#open.length > maxDepth) this.#isBroken = true;
    const isFirst = !this.#size;
    if (this.#skipped || this.#isBroken || !elements.has(local) || isFirst !== (this.#open.length === 0)) {
      this.#skipped += 1;
      return;
    }
    if (isFirst && local !== 'svg') this.#isBroken = true;
    this.#size ??= sizeOf(attributes);
    const shown = Object.entries(attributes).filter(([key, value]) => this.#isSafe(key, value));
    const spaces = isFirst
      ? ' xmlns="http://www.w3.org/2000/svg" xmlns:xlink="http://www.w3.org/1999/xlink"'
      : '';
    this.#open.push(local);
    this.#parts.push(
      `<${drawnAs(local)}${spaces}${shown.map(([key, value]) => ` ${key}="${escapeXml(value)}"`).join('')}>`,
    );
  }

  onclosetag(): void {
    if (this.#skipped) {
      this.#skipped -= 1;
      if (this.#skipped === 0 && this.#label)
        this.#parts.push(labelText(this.#label.attributes, this.#label.text));
      if (this.#skipped === 0) this.#label = undefined;
      return;
    }
    this.#parts.push(escapeXml(safeRules(this.#style)));
    this.#style = '';
    this.#parts.push(`</${drawnAs(this.#open.pop())}>`);
  }

  ontext(text: string): void {
    if (this.#label) this.#label.text += text.replace(/\s+/g, ' ');
    if (this.#skipped || this.#open.length === 0) return;
    if (this.#open.at(-1) === 'style') this.#style += text;
    else this.#parts.push(escapeXml(text));
  }

  result() {
    if (this.#isBroken || !this.#size || this.#open.length > 0) return undefined;
    return { ...this.#size, text: this.#parts.join('') };
  }

  #isSafe(name: string, value: string): boolean {
    if (name === 'href' || name === 'xlink:href') return /^#[\w:.-]+$/.test(value);
    if (name === 'xml:space') return value === 'preserve' || value === 'default';
    if (!/^[a-zA-Z][\w-]*$/.test(name) || /^(on|xmlns$)/i.test(name) || !isSafeStyle(value)) return false;
    if (name !== 'id') return true;
    const isNew = /^[A-Za-z_][\w.-]*$/.test(value) && !this.#ids.has(value);
    this.#ids.add(value);
    return isNew;
  }
}

/** The rules of a style element that are safe, without comments and what begins with `@`. */
function safeRules(text: string): string {
  const plain = text.replace(comments, '').replace(atRules, '');
  const rules = plain.split('}').filter((rule) => /^[^{]+\{[^{]*$/.test(rule) && isSafeStyle(rule));
  return rules.map((rule) => `${rule}}`).join('');
}

/** One without an end takes the rest, so that the text is read once. */
const comments = /\/\*[\s\S]*?(?:\*\/|$)/g;
const atRules = /@[^{};]*(?:;|\}|\{(?:[^{}]|\{[^{}]*\}?)*\}?|$)/g;

/** A switch shows one of its elements, and what is left of it is that one. */
function drawnAs(name = ''): string {
  return name === 'switch' ? 'g' : name;
}

/** Elements of HTML that begin a line. */
const breaks: ReadonlySet<string> = new Set(['br', 'div', 'p', 'li']);

/** The lines of a label in the middle of its box. */
function labelText({ x, y, width, height }: Record<string, string>, text: string): string {
  const lines = text
    .split('\n')
    .map((line) => line.trim())
    .filter(Boolean)
    .slice(0, 100);
  const middle = (start = '0', length = '0') => (tryPixels(start) ?? 0) + (tryPixels(length) ?? 0) / 2;
  const [left, top] = [middle(x, width), middle(y, height)];
  const spans = lines.map((line, at) => {
    const down = at === 0 ? 0.35 - 0.6 * (lines.length - 1) : 1.2;
    return `<tspan x="${left}" dy="${down.toFixed(2)}em">${escapeXml(line)}</tspan>`;
  });
  return lines.length === 0
    ? ''
    : `<text x="${left}" y="${top}" text-anchor="middle">${spans.join('')}</text>`;
}

/** No address except `url(#id)`, no import, and none of the escapes that would hide one. */
function isSafeStyle(text: string): boolean {
  return !/[\\@<]|url\((?!\s*["']?#)|image-set|:\/\/|(?:java|vb)script:|data:|expression\(/i.test(text);
}

function sizeOf({ width, height, viewBox }: Record<string, string>) {
  const [, , boxWidth, boxHeight] = (viewBox ?? '').split(/[\s,]+/);
  return {
    width: tryPixels(width) ?? tryPixels(boxWidth),
    height: tryPixels(height) ?? tryPixels(boxHeight),
  };
}

function tryPixels(text: string | undefined): number | null {
  const [, digits] = /^\s*(\d{1,7}(?:\.\d{1,6})?)(?:px)?\s*$/.exec(text ?? '') ?? [];
  return digits ? Number(digits) : null;
}
