import type { TextDocuments } from 'vscode-languageserver/node';
import type { TextDocument } from 'vscode-languageserver-textdocument';
import { isTyping } from './debounce.ts';

/** When and in which order the open documents were opened or changed. */
export interface Activity {
  /** Milliseconds since the document last changed; for ever where it is not known. */
  restedFor(uri: string): number;
  /** Milliseconds between the newest keys in the document. */
  gaps(uri: string): readonly number[];
  /** Addresses of the open documents, the one that changed last first. */
  recent(): readonly string[];
}

/** How many gaps tell how somebody types. */
const mostGaps = 12;

interface Changes {
  readonly last: number;
  readonly gaps: readonly number[];
}

/** `now` in ms. */
export function followActivity(documents: TextDocuments<TextDocument>, now: () => number): Activity {
  const changes = new Map<string, Changes>();
  documents.onDidChangeContent(({ document: { uri } }) => {
    const known = changes.get(uri);
    // Entries stand in the order in which they were set.
    changes.delete(uri);
    changes.set(uri, { last: now(), gaps: known ? gapsSince(known, now()) : [] });
  });
  documents.onDidClose(({ document }) => changes.delete(document.uri));
  return {
    restedFor: (uri) => now() - (changes.get(uri)?.last ?? Number.NEGATIVE_INFINITY),
    gaps: (uri) => changes.get(uri)?.gaps ?? [],
    recent: () => [...changes.keys()].reverse(),
  };
}

function gapsSince({ last, gaps }: Changes, now: number): readonly number[] {
  const gap = now - last;
  return isTyping(gap) ? [...gaps, gap].slice(-mostGaps) : gaps;
}
