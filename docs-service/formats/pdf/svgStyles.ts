import { compile } from 'css-select';
import { DomUtils, parseDocument } from 'htmlparser2';
import { colors } from './style.ts';

/**
 * An SVG whose rules of style stand in its elements, because the library that draws it reads only the simplest
 * selectors. What has the colour of its surroundings gets that of the text.
 * @param svg the output of `sanitiseSvg`
 */
export function withInlineStyles(svg: string): string {
  const document = parseDocument(svg, { xmlMode: true });
  const styles = DomUtils.getElementsByTagName('style', document);
  const rules = rulesOf(DomUtils.getText(styles));
  const every = DomUtils.getElementsByTagName('*', document);
  const [root] = every;
  if (root) root.attribs['color'] ??= colors.text;
  if (rules.length * every.length > maxMatches) return svg;
  for (const style of styles) DomUtils.removeElement(style);
  let room = maxStyle;
  for (const { selector, style } of rules) {
    for (const { attribs } of every.filter(matcherOf(selector))) {
      room -= style.length;
      if (room > 0) attribs['style'] = `${style};${attribs['style'] ?? ''}`;
    }
  }
  return DomUtils.getOuterHTML(document, { xmlMode: true, selfClosingTags: false });
}

/** How often a rule and an element may be compared. */
const maxMatches = 1_000_000;
/** Characters that rules may add to all elements together. */
const maxStyle = 1_000_000;

type SvgElement = ReturnType<typeof DomUtils.getElementsByTagName>[number];
type ChildNode = Parameters<typeof DomUtils.getText>[0];

interface Rule {
  readonly selector: string;
  readonly style: string;
}

/** The most specific first, and of equal ones the last: each is put before what an element has already. */
function rulesOf(text: string): Rule[] {
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
  try {
    return isSimple ? compile<ChildNode, SvgElement>(selector, { xmlMode: true }) : () => false;
  } catch {
    return () => false;
  }
}

/**
 * Whether an SVG draws a bounded number of elements after all its `use` elements are resolved: a few of them that refer
 * to each other can stand for billions.
 */
export function isSvgInBounds(svg: string): boolean {
  const every = DomUtils.getElementsByTagName('*', parseDocument(svg, { xmlMode: true }));
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
