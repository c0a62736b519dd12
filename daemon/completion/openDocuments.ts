import { TextDocument, type TextDocumentContentChangeEvent } from 'vscode-languageserver-textdocument';
import type { TextPosition } from '../../protocol/messages/messageTypes.ts';
import { TextDocuments } from '../rpc/languageServer.ts';
import { positionAfter, type TextSource } from './cursorContext.ts';

/** A document in its current state. The editor's changes are applied in place. */
export interface OpenDocument extends TextSource {
  readonly version: number;
  getText(range?: Parameters<TextSource['getText']>[0]): string;
}

/** How many gaps are kept to show how the user types. */
const maxGaps = 12;

interface Changes {
  readonly last: number;
  readonly gaps: readonly number[];
}

/** The documents that the editor has open, and where and when the user typed in them. */
export type OpenDocuments = ReturnType<typeof createOpenDocuments>;

/** `now` in ms. */
export function createOpenDocuments(now: () => number) {
  const edits = new Map<string, TextPosition | undefined>();
  /** The document that changed last comes last. */
  const changes = new Map<string, Changes>();
  const documents = new TextDocuments({
    create: TextDocument.create,
    update(document: TextDocument, events: TextDocumentContentChangeEvent[], version: number) {
      edits.set(document.uri, endOf(events.at(-1)));
      return TextDocument.update(document, events, version);
    },
  });
  documents.onDidChangeContent(({ document: { uri } }) => {
    const known = changes.get(uri);
    changes.delete(uri);
    changes.set(uri, { last: now(), gaps: known ? gapsSince(known, now()) : [] });
  });
  documents.onDidClose(({ document: { uri } }) => {
    edits.delete(uri);
    changes.delete(uri);
  });
  return {
    /** The creator must make them listen to the editor. */
    documents,
    document: (uri: string) => documents.get(uri),
    /** Calls `close` for each document that is closed. A renamed document is closed and opened again. */
    onDidClose: (close: (uri: string) => void) =>
      void documents.onDidClose(({ document }) => close(document.uri)),
    /** The end of the text that was inserted last, or the place where text was removed; undefined if not known. */
    lastEdit: (uri: string) => edits.get(uri),
    /** Milliseconds since the document last changed; infinite if not known. */
    restedFor: (uri: string) => now() - (changes.get(uri)?.last ?? Number.NEGATIVE_INFINITY),
    /** Milliseconds between the latest keystrokes in the document. */
    gaps: (uri: string) => changes.get(uri)?.gaps ?? [],
    /** Addresses of the open documents, the one that changed last first. */
    recent: () => [...changes.keys()].reverse(),
  };
}

/** The end of a change. An editor that sends the whole text does not say where it changed. */
function endOf(change: TextDocumentContentChangeEvent | undefined): TextPosition | undefined {
  return change && 'range' in change ? positionAfter(change.range.start, change.text) : undefined;
}

function gapsSince({ last, gaps }: Changes, now: number): readonly number[] {
  const gap = now - last;
  return isTyping(gap) ? [...gaps, gap].slice(-maxGaps) : gaps;
}

/** In ms. A shorter gap is a change by the editor itself, a longer one is a pause. */
const minGap = 20;
const maxGap = 1_000;

/** Whether this time between two changes of a document, in ms, is a gap between two keystrokes. */
export function isTyping(gap: number): boolean {
  return gap >= minGap && gap <= maxGap;
}
