import type { TextDocuments } from 'vscode-languageserver/node';
import type { TextDocument } from 'vscode-languageserver-textdocument';

/** When and in which order the open documents were opened or changed. */
export interface Activity {
  /** Milliseconds since the document last changed; for ever where it is not known. */
  restedFor(uri: string): number;
  /** Addresses of the open documents, the one that changed last first. */
  recent(): readonly string[];
}

/** `now` in ms. */
export function followActivity(documents: TextDocuments<TextDocument>, now: () => number): Activity {
  const changedAt = new Map<string, number>();
  documents.onDidChangeContent(({ document: { uri } }) => {
    // Entries stand in the order in which they were set.
    changedAt.delete(uri);
    changedAt.set(uri, now());
  });
  documents.onDidClose(({ document }) => changedAt.delete(document.uri));
  return {
    restedFor: (uri) => now() - (changedAt.get(uri) ?? Number.NEGATIVE_INFINITY),
    recent: () => [...changedAt.keys()].reverse(),
  };
}
