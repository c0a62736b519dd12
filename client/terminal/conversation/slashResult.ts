/** What a line that begins with a slash leads to: what to show, and whether to leave. */
export interface SlashResult {
  readonly text: string;
  readonly leave?: true;
}
