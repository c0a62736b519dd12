/** What the parser needs to know about a tool in the request. */
export interface ToolShape {
  readonly name: string;
  readonly inputSchema?: unknown;
}

/** The tools of one request, which can be found by the names that models make of theirs. */
export class OfferedTools {
  readonly offered: boolean;
  readonly #byName = new Map<string, ToolShape>();
  /** Undefined marks a spelling that two tools share. It refers to neither of them. */
  readonly #bySpelling = new Map<string, ToolShape | undefined>();
  readonly #byFoldedSpelling = new Map<string, ToolShape | undefined>();

  constructor(tools: readonly ToolShape[]) {
    this.offered = tools.length > 0;
    for (const tool of tools) {
      this.#byName.set(tool.name, tool);
      const spelling = spellingOf(tool.name);
      const folded = spelling.toLowerCase();
      this.#bySpelling.set(spelling, this.#bySpelling.has(spelling) ? undefined : tool);
      this.#byFoldedSpelling.set(folded, this.#byFoldedSpelling.has(folded) ? undefined : tool);
    }
  }

  /**
   * The tool that a model means. Templates rename tools (`functions.read_file`, `get_weather` for `get weather`), so an
   * unknown name may still be exactly one tool's name in another spelling.
   */
  find(name: string): ToolShape | undefined {
    const bare = name.trim().replace(/^(["'`])(.*)\1$/s, '$2');
    const known = this.#byName.get(bare);
    if (known !== undefined || bare === '') return known;
    const spelling = spellingOf(bare);
    return this.#bySpelling.get(spelling) ?? this.#byFoldedSpelling.get(spelling.toLowerCase());
  }

  /** Whether an incomplete name can still become a tool's name. */
  mayBecome(word: string): boolean {
    if (word.length > 256) return false;
    const spelling = spellingOf(word).toLowerCase();
    for (const known of this.#byFoldedSpelling.keys()) if (known.startsWith(spelling)) return true;
    return 'functions.'.startsWith(word) || /^functions?[.:/]$/.test(word);
  }
}

function spellingOf(name: string): string {
  return name.replace(/^functions?[.:/]/, '').replace(/[^\p{L}\p{N}]+/gu, '_');
}
