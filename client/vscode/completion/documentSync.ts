import * as vscode from 'vscode';
import type {
  NotificationMessage,
  TextPosition,
  TextRange,
} from '../../../protocol/messages/messageTypes.ts';
import type { DaemonConnection } from '../daemon/connection.ts';
import { documentSchemes } from '../daemon/startedDaemon.ts';

/** The daemon's copy of the open documents, on which completion is based. */
export type DocumentSync = ReturnType<typeof syncDocuments>;

/** In characters. A longer document is not sent: it is probably a dump, and each window would hold it twice. */
const maxDocumentLength = 10_000_000;

/** The language client already sends Modelfiles of these schemes. */
const sentElsewhere = 'modelfile';

/**
 * Sends documents to the daemon until it is disposed, and sends them all again to each new daemon. A document is sent
 * once the user sees it, because an editor opens many more for its own purposes.
 */
export function syncDocuments(daemon: DaemonConnection) {
  const sent = new Set<string>();
  const open = (document: vscode.TextDocument) => {
    if (!daemon.isConnected || !belongs(document) || sent.has(document.uri.toString())) return;
    const text = document.getText();
    if (text.length > maxDocumentLength) return;
    const { languageId, version } = document;
    const uri = document.uri.toString();
    sent.add(uri);
    daemon.notify(didOpen, { textDocument: { uri, languageId, version, text } });
  };
  const change = ({ document, contentChanges }: vscode.TextDocumentChangeEvent) => {
    const uri = document.uri.toString();
    if (contentChanges.length === 0 || !sent.has(uri)) return;
    const changes = contentChanges.map(({ range, text }) => ({ range: toRange(range), text }));
    daemon.notify(didChange, { textDocument: { uri, version: document.version }, contentChanges: changes });
  };
  const close = (uri: string) => {
    if (sent.delete(uri)) daemon.notify(didClose, { textDocument: { uri } });
  };
  const openVisible = () => {
    const { visibleTextEditors, activeTextEditor } = vscode.window;
    // The active document is sent last.
    for (const editor of visibleTextEditors) if (editor !== activeTextEditor) open(editor.document);
    if (activeTextEditor) open(activeTextEditor.document);
  };
  const openAnew = () => {
    const before = new Set(sent);
    sent.clear();
    for (const document of vscode.workspace.textDocuments)
      if (before.has(document.uri.toString())) open(document);
    openVisible();
  };
  const listeners = [
    vscode.window.onDidChangeVisibleTextEditors(openVisible),
    vscode.window.onDidChangeActiveTextEditor(openVisible),
    vscode.workspace.onDidChangeTextDocument(change),
    vscode.workspace.onDidCloseTextDocument(({ uri }) => close(uri.toString())),
    daemon.onDidConnect(openAnew),
  ];
  openVisible();
  return {
    /** Opens this document in the daemon too, if it is not open there. Returns whether the daemon has it now. */
    open(document: vscode.TextDocument): boolean {
      open(document);
      return document.languageId === sentElsewhere || sent.has(document.uri.toString());
    },
    dispose() {
      for (const listener of listeners) listener.dispose();
      for (const uri of [...sent]) close(uri);
    },
  };
}

function belongs({ uri, languageId }: vscode.TextDocument): boolean {
  return languageId !== sentElsewhere && documentSchemes.some((scheme) => scheme === uri.scheme);
}

export function toRange({ start, end }: vscode.Range): TextRange {
  return { start: toPosition(start), end: toPosition(end) };
}

/** Both sides count lines and UTF-16 units from 0. */
export function toPosition({ line, character }: vscode.Position): TextPosition {
  return { line, character };
}

// The part of LSP's text synchronization that is used here.

interface TextDocument {
  readonly uri: string;
  readonly languageId: string;
  readonly version: number;
  readonly text: string;
}

interface Change {
  readonly range: TextRange;
  readonly text: string;
}

const didOpen: NotificationMessage<{ readonly textDocument: TextDocument }> = {
  method: 'textDocument/didOpen',
};
const didChange: NotificationMessage<{
  readonly textDocument: Pick<TextDocument, 'uri' | 'version'>;
  readonly contentChanges: readonly Change[];
}> = { method: 'textDocument/didChange' };
const didClose: NotificationMessage<{ readonly textDocument: Pick<TextDocument, 'uri'> }> = {
  method: 'textDocument/didClose',
};
