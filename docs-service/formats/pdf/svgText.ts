import { decodeEntities } from '../../content/plainText.ts';
import { escapeXml } from '../markdown/xmlText.ts';
import { orderedLines } from './directions.ts';
import type { Typesetter } from './typesetter.ts';
import { directionOf } from './visualOrder.ts';

/**
 * An SVG whose text names the fonts that its characters need. The library that draws it takes one font for a whole
 * text, and sets it from left to right.
 * @param svg the output of `sanitiseSvg`
 */
export function withFallbackFonts(svg: string, type: Typesetter): string {
  const open: string[] = [];
  return svg.replace(tagOrText, (part, slash: string | undefined, name: string | undefined) => {
    if (name === undefined) return texts.has(open.at(-1) ?? '') ? textWithFonts(part, type) : part;
    if (slash) open.pop();
    else open.push(name);
    return part;
  });
}

/** Every element of the picture has an end tag, and no value of an attribute contains `>`. */
const tagOrText = /<(\/?)([\w:]+)[^>]*>|[^<]+/g;
const texts: ReadonlySet<string> = new Set(['text', 'tspan', 'textPath']);
const beyondLatin = /[^\0-\u024f]/;

function textWithFonts(xml: string, type: Typesetter): string {
  const text = decodeEntities(xml);
  if (!beyondLatin.test(text)) return xml;
  const [, before = '', inner = '', after = ''] = /^(\s*)([\s\S]*?)(\s*)$/.exec(text) ?? [];
  const lines = { direction: directionOf(inner), room: Number.POSITIVE_INFINITY, widthOf: () => 0 };
  const words = orderedLines([{ kind: 'text', text: inner.replace(/\s/g, ' '), mark: {} }], lines);
  const parts = words.flatMap((word) => {
    const stretches = type.split(word.text, 'Text');
    return word.isRightToLeft ? stretches.reverse() : stretches;
  });
  return before + parts.map(({ text, family }) => spanOf(text, family)).join('') + after;
}

/** What the text font has keeps the font that the author chose. */
function spanOf(text: string, family: string | undefined): string {
  const escaped = escapeXml(text);
  return family === undefined || family === 'Text'
    ? escaped
    : `<tspan font-family="${escapeXml(family)}">${escaped}</tspan>`;
}
