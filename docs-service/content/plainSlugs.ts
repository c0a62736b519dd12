export interface PlainSlugs {
  readonly slugs: readonly string[];
  /** The file without the slugs. */
  readonly rest: string;
  /** Maps a line of the rest to its line in the file; both are counted from 1. */
  readonly lineInFile: (line: number) => number;
}

/**
 * The usual list of a collection: "docs:" and then one "- slug" a line. Only this list makes a file long, and it needs
 * no YAML parser. Any other list stays in the rest.
 */
export function takePlainSlugs(text: string): PlainSlugs {
  const lines = text.split(/\r?\n/);
  const key = lines.findIndex((line) => /^docs:[ \t]*(?:#.*)?$/.test(line));
  const slugs: string[] = [];
  let end = key + 1;
  for (; key >= 0 && end < lines.length; end++) {
    const slug = itemForm.exec(lines[end] ?? '')?.[1];
    if (slug !== undefined) slugs.push(slug);
    else if (!/^[ \t]*(?:#.*)?$/.test(lines[end] ?? '')) break;
  }
  if (slugs.length === 0 || /^[ \t-]/.test(lines[end] ?? ''))
    return { slugs: [], rest: text, lineInFile: (line) => line };
  return {
    slugs,
    rest: [...lines.slice(0, key), ...lines.slice(end)].join('\n'),
    lineInFile: (line) => (line <= key ? line : line + end - key),
  };
}

/** None of its characters has a meaning in YAML. */
const itemForm = /^[ \t]*-[ \t]+([^\s#'"&*!|>%@`[\]{},?:-][^\s#'"&*!|>%@`[\]{},?:]*)[ \t]*(?:[ \t]#.*)?$/;
