/** A value of the front matter, which is read even if it is not written as it should be. */
export interface WrittenValue<Value> {
  readonly value: Value;
  /** How it was read. */
  readonly warning?: string;
  /** What it must be, because it is not clear what it means. */
  readonly problem?: string;
}

/** What is not clear counts as a draft. */
export function readDraft(written: unknown): WrittenValue<boolean> {
  if (typeof written === 'boolean') return { value: written };
  if (written === null || written === undefined) return { value: false };
  const value = typeof written === 'string' ? draftWords.get(written.trim().toLowerCase()) : undefined;
  if (value === undefined) return { value: true, problem: 'must be true or false' };
  return { value, warning: `was read as ${value}. Write "draft: ${value}".` };
}

const draftWords: ReadonlyMap<string, boolean> = new Map([
  ...['true', 'yes', 'y', 'on', '1'].map((word) => [word, true] as const),
  ...['false', 'no', 'n', 'off', '0'].map((word) => [word, false] as const),
]);
