import { Parser } from 'htmlparser2';
import { withoutIllegalCharacters } from '../../content/plainText.ts';
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
  parser.write(withoutIllegalCharacters(text));
  parser.end();
  return writer.result();
}

const maxDepth = 100;
const elements = new Set(
  (
    'svg g defs symbol use path rect circle ellipse line polyline polygon text tspan textPath title desc style ' +
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

  onopentag(name: string, attributes: Record<string, string>): void {
    const local = name.replace(/^svg:/, '');
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
      `<${local}${spaces}${shown.map(([key, value]) => ` ${key}="${escapeXml(value)}"`).join('')}>`,
    );
  }

  onclosetag(): void {
    if (this.#skipped) {
      this.#skipped -= 1;
      return;
    }
    if (isSafeStyle(this.#style)) this.#parts.push(escapeXml(this.#style));
    this.#style = '';
    this.#parts.push(`</${this.#open.pop()}>`);
  }

  ontext(text: string): void {
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
