import { TextDocuments } from 'vscode-languageserver/node';
import { TextDocument, type TextDocumentContentChangeEvent } from 'vscode-languageserver-textdocument';
import type { TextPosition } from '../../protocol/completion.ts';

/** The documents that the editor tells of, and where each was last edited. */
export interface EditedDocuments {
  readonly documents: TextDocuments<TextDocument>;
  /** Behind what was inserted, or where something was taken out; undefined where it is not known. */
  lastEdit(uri: string): TextPosition | undefined;
}

export function createEditedDocuments(): EditedDocuments {
  const edits = new Map<string, TextPosition | undefined>();
  const documents = new TextDocuments({
    create: TextDocument.create,
    update(document: TextDocument, changes: TextDocumentContentChangeEvent[], version: number) {
      edits.set(document.uri, endOf(changes.at(-1)));
      return TextDocument.update(document, changes, version);
    },
  });
  documents.onDidClose(({ document }) => edits.delete(document.uri));
  return { documents, lastEdit: (uri) => edits.get(uri) };
}

/** Of a change; an editor that sends the whole text does not say where it changed. */
function endOf(change: TextDocumentContentChangeEvent | undefined): TextPosition | undefined {
  if (!change || !('range' in change)) return undefined;
  const { line, character } = change.range.start;
  const lines = change.text.split(/\r\n|\r|\n/);
  const last = lines.at(-1)?.length ?? 0;
  return { line: line + lines.length - 1, character: lines.length === 1 ? character + last : last };
}
