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
  for (const { selector, style } of rules) {
    for (const { attribs } of every.filter(matcherOf(selector)))
      attribs['style'] = `${style};${attribs['style'] ?? ''}`;
  }
  return DomUtils.getOuterHTML(document, { xmlMode: true, selfClosingTags: false });
}

/** How often a rule and an element may be compared. */
const maxMatches = 1_000_000;

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

function matcherOf(selector: string): (element: SvgElement) => boolean {
  try {
    return compile<ChildNode, SvgElement>(selector, { xmlMode: true });
  } catch {
    // A selector that nothing here knows matches nothing.
    return () => false;
  }
}
