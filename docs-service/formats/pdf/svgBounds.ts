import { Parser } from 'htmlparser2';

/**
 * Whether an SVG draws a bounded number of elements after all its `use` elements are resolved: a few of them that refer
 * to each other can stand for billions.
 */
export function isSvgInBounds(svg: string): boolean {
  const { root, groups } = readGroups(svg);
  const weights = new Map<string, number>();
  const open = new Set<string>();
  const weigh = (group: Group): number => {
    let weight = group.elements;
    for (const id of group.uses) {
      weight += weightOf(id);
      if (weight > maxElements) return Number.POSITIVE_INFINITY;
    }
    return weight;
  };
  const weightOf = (id: string): number => {
    const known = weights.get(id);
    const group = groups.get(id);
    // The renderer does not follow an element that refers to itself.
    if (known !== undefined || !group || open.has(id) || open.size > 100) return known ?? 1;
    open.add(id);
    const weight = weigh(group);
    open.delete(id);
    weights.set(id, weight);
    return weight;
  };
  return weigh(root) <= maxElements;
}

const maxElements = 200_000;

interface Group {
  elements: number;
  readonly uses: string[];
}

/** The content of each element with an id, and of the whole picture. */
function readGroups(svg: string) {
  const root: Group = { elements: 0, uses: [] };
  const groups = new Map<string, Group>();
  const open: (Group | undefined)[] = [root];
  const parser = new Parser(
    {
      onopentag(_name, attributes) {
        const group = attributes['id'] ? { elements: 0, uses: [] } : undefined;
        if (attributes['id'] && group) groups.set(attributes['id'], group);
        open.push(group);
        const uses = Object.values(attributes).flatMap((value) =>
          [...value.matchAll(/^#([\w:.-]+)$|url\(\s*["']?#([\w:.-]+)/g)].map(
            (match) => match[1] ?? match[2] ?? '',
          ),
        );
        for (const holder of open) {
          if (!holder) continue;
          holder.elements += 1;
          holder.uses.push(...uses);
        }
      },
      onclosetag() {
        open.pop();
      },
    },
    { xmlMode: true },
  );
  parser.write(svg);
  parser.end();
  return { root, groups };
}
