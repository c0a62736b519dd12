import type { TextDocuments } from 'vscode-languageserver/node';
import type { TextDocument } from 'vscode-languageserver-textdocument';

/** How long each open document has not changed, in ms; for ever where it is not known. `now` in ms. */
export function createRests(
  documents: TextDocuments<TextDocument>,
  now: () => number,
): (uri: string) => number {
  const changedAt = new Map<string, number>();
  documents.onDidChangeContent(({ document }) => changedAt.set(document.uri, now()));
  documents.onDidClose(({ document }) => changedAt.delete(document.uri));
  return (uri) => now() - (changedAt.get(uri) ?? Number.NEGATIVE_INFINITY);
}
