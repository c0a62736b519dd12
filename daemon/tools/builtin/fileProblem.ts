/** Why a file is not read or not changed. The message is a sentence for the model, which says what to do instead. */
export class FileProblemError extends Error {
  override readonly name = 'FileProblemError';
}
