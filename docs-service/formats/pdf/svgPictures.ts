import { compile } from 'css-select';
import { DomUtils, parseDocument } from 'htmlparser2';
import { tryNow } from '../../../protocol/base/errorText.ts';
import { escapeXml } from '../markdown/xmlText.ts';
import { directionOf, orderedLines } from './directions.ts';
import { textPiece } from './pieces.ts';
import { colors } from './style.ts';
import type { Typesetter } from './typesetter.ts';

/**
 * An SVG for the library that draws it, which reads only the simplest selectors, takes one font for a whole text, and
 * sets it from left to right. Undefined if it would draw too much.
 * @param svg the output of `sanitiseSvg`
 * @param type knows which fonts the characters of a text need
 */
export function tryDrawableSvg(svg: string, type?: Typesetter): string | undefined {
  const document = parseDocument(svg, { xmlMode: true });
  const every = DomUtils.getElementsByTagName('*', document);
  writeStyles(every);
  if (!isInBounds(every)) return undefined;
  if (type) for (const element of every) if (texts.has(element.name)) nameFonts(element, type);
  const drawable = DomUtils.getOuterHTML(document, { xmlMode: true, selfClosingTags: false });
  // The library does not know references to characters beyond 16 bits.
  return drawable.replace(/&#x(\w{5,6});/g, (_, code) => String.fromCodePoint(Number.parseInt(code, 16)));
}

/** Puts the rules of style into their elements. What has the colour of its surroundings gets that of the text. */
function writeStyles(every: readonly SvgElement[]): void {
  const styles = every.filter(({ name }) => name === 'style');
  const rules = rulesOf(DomUtils.getText(styles));
  if (rules.length * every.length > maxMatches) return;
  const [root] = every;
  if (root) root.attribs['color'] ??= colors.text;
  for (const style of styles) DomUtils.removeElement(style);
  let room = maxStyle;
  for (const { selector, style } of rules) {
    for (const { attribs } of every.filter(matcherOf(selector))) {
      room -= style.length;
      if (room > 0) attribs['style'] = `${style};${attribs['style'] ?? ''}`;
    }
  }
}

/** How often a rule and an element may be compared. */
const maxMatches = 1_000_000;
/** Characters that rules may add to all elements together. */
const maxStyle = 1_000_000;

type SvgElement = ReturnType<typeof DomUtils.getElementsByTagName>[number];
type ChildNode = Parameters<typeof DomUtils.getText>[0];

/** The most specific first, and of equal ones the last: each is put before what an element has already. */
function rulesOf(text: string) {
  return Array.from(text.matchAll(/([^{}]+)\{([^{}]*)\}/g), ([, selectors = '', style = '']) =>
    selectors.split(',').map((selector) => ({ selector, style: style.replace(/!\s*important/gi, '') })),
  )
    .flat()
    .reverse()
    .sort((one, other) => weightOf(other.selector) - weightOf(one.selector));
}

/** By ids, then classes and attributes, then names of elements. */
function weightOf(selector: string): number {
  const count = (pattern: RegExp) => selector.match(pattern)?.length ?? 0;
  return 10_000 * count(/#/g) + 100 * count(/[.[:]/g) + count(/(?:^|[\s>+~])[a-z]/gi);
}

/** Ids, classes and names, in each other. What a selector with `:` or `[` costs has no bound, so it matches nothing. */
function matcherOf(selector: string): (element: SvgElement) => boolean {
  const isSimple = /^\s*(?:>\s*)?[\w.#*-]+(?:[\s>]+[\w.#*-]+)*\s*$/.test(selector);
  const compiled = () => compile<ChildNode, SvgElement>(selector, { xmlMode: true });
  return (isSimple ? tryNow(compiled) : undefined) ?? (() => false);
}

/**
 * Whether an SVG draws a bounded number of elements after all its `use` elements are resolved: a few of them that refer
 * to each other can stand for billions.
 */
function isInBounds(every: readonly SvgElement[]): boolean {
  const byId = new Map(every.map((element) => [element.attribs['id'], element]));
  const weights = new Map<SvgElement, number>();
  const weigh = (element: SvgElement, depth: number): number => {
    const known = weights.get(element);
    if (known !== undefined) return known;
    if (depth > maxReferences) return Number.POSITIVE_INFINITY;
    // The renderer does not follow an element that refers to itself.
    weights.set(element, 1);
    const children = element.children.filter((child): child is SvgElement => 'attribs' in child);
    const used = Object.values(element.attribs).flatMap((value) =>
      Array.from(value.matchAll(reference), ([, id, other]) => byId.get(id ?? other) ?? []).flat(),
    );
    const weight = [...children, ...used].reduce((sum, inner) => sum + weigh(inner, depth + 1), 1);
    weights.set(element, weight);
    return weight;
  };
  const [root] = every;
  return root === undefined || weigh(root, 0) <= maxElements;
}

const maxElements = 200_000;
/** How many elements may be in each other or refer to the next. */
const maxReferences = 1_000;
const reference = /^#([\w:.-]+)$|url\(\s*["']?#([\w:.-]+)/g;

const texts: ReadonlySet<string> = new Set(['text', 'tspan', 'textPath']);
const beyondLatin = /[^\0-\u024f]/;

/** Cuts what stands in an element where its font changes. */
function nameFonts(element: SvgElement, type: Typesetter): void {
  for (const child of [...element.children]) {
    if (!('data' in child) || !beyondLatin.test(child.data)) continue;
    const spans = parseDocument(textWithFonts(child.data, type), { xmlMode: true });
    for (const span of [...spans.children]) DomUtils.prepend(child, span);
    DomUtils.removeElement(child);
  }
}

function textWithFonts(text: string, type: Typesetter): string {
  const [, before = '', inner = '', after = ''] = /^(\s*)([\s\S]*?)(\s*)$/.exec(text) ?? [];
  const lines = { direction: directionOf(inner), room: Number.POSITIVE_INFINITY, widthOf: () => 0 };
  const words = orderedLines([textPiece(inner.replace(/\s/g, ' '))], lines);
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
