/** What a model may call a tool. */
const longest = 64;

export interface NamedTool {
  readonly server: string;
  /** The server's own name for it. */
  readonly ownName: string;
}

/**
 * The names that a model sees, in the order of the tools: each matches `[A-Za-z0-9_-]{1,64}`, and no two are the same.
 * Where several tools have a name, or one that is taken, all of them are `server_tool`: so none takes another's place by
 * looking like it.
 */
export function namesForModel(tools: readonly NamedTool[], taken: readonly string[]): readonly string[] {
  const prefixed = new Set<number>();
  const nameOf = (tool: NamedTool, index: number) =>
    plainName(prefixed.has(index) ? `${tool.server}_${tool.ownName}` : tool.ownName);
  // A name that got its server in front may now be that of a third tool, which then gets its own.
  for (let before = -1; before !== prefixed.size; ) {
    before = prefixed.size;
    const clashing = clashesOf(tools.map(nameOf), taken);
    for (const index of clashing) prefixed.add(index);
  }
  return numbered(tools.map(nameOf), taken);
}

function plainName(name: string): string {
  return name.replace(/[^A-Za-z0-9_-]/g, '_').slice(0, longest) || '_';
}

function clashesOf(names: readonly string[], taken: readonly string[]): readonly number[] {
  const count = new Map<string, number>(taken.map((name) => [name, 1]));
  for (const name of names) count.set(name, (count.get(name) ?? 0) + 1);
  return names.flatMap((name, index) => ((count.get(name) ?? 0) > 1 ? [index] : []));
}

/** What still is the same, after cutting or for two tools of one server, gets a number. */
function numbered(names: readonly string[], taken: readonly string[]): readonly string[] {
  const used = new Set(taken);
  return names.map((name) => {
    let free = name;
    for (let number = 2; used.has(free); number += 1) {
      const end = `_${number}`;
      free = name.slice(0, longest - end.length) + end;
    }
    used.add(free);
    return free;
  });
}
