/** What is wrong with a file that a person wrote, in a sentence for its author. */
export class ContentError extends Error {
  override readonly name = 'ContentError';
  /** Where in the file, counted from 1, if that is known. */
  readonly line: number | undefined;

  constructor(message: string, { line, ...options }: ErrorOptions & { readonly line?: number } = {}) {
    super(message, options);
    this.line = line;
  }
}
