/** What the parser needs of a tool that the request carried. */
export interface ToolShape {
  readonly name: string;
  readonly inputSchema?: unknown;
}

/** The tools of one request, found by what a model makes of their names. */
export class OfferedTools {
  readonly offered: boolean;
  readonly #byName = new Map<string, ToolShape>();
  /** Undefined marks a spelling that two tools share: it means neither. */
  readonly #bySpelling = new Map<string, ToolShape | undefined>();

  constructor(tools: readonly ToolShape[]) {
    this.offered = tools.length > 0;
    for (const tool of tools) {
      this.#byName.set(tool.name, tool);
      const spelling = spellingOf(tool.name);
      this.#bySpelling.set(spelling, this.#bySpelling.has(spelling) ? undefined : tool);
    }
  }

  /**
   * The tool that a model means. Templates rename tools (`functions.read_file`, `get_weather` for
   * `get weather`), so a name that is no tool's may still be exactly one tool's in another spelling.
   */
  find(name: string): ToolShape | undefined {
    const bare = name.trim().replace(/^(["'`])(.*)\1$/s, '$2');
    return this.#byName.get(bare) ?? this.#bySpelling.get(spellingOf(bare));
  }

  /** Whether a name that is still being written can become a tool's. */
  mayBecome(word: string): boolean {
    if (word.length > 256) return false;
    for (const name of this.#byName.keys()) if (name.startsWith(word)) return true;
    return 'functions.'.startsWith(word) || word.startsWith('functions.');
  }
}

function spellingOf(name: string): string {
  return name.replace(/^functions?[.:/]/, '').replace(/[^\p{L}\p{N}]+/gu, '_');
}
