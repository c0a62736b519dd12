import * as vscode from 'vscode';
import type { TextPosition, TextRange } from '../../../protocol/completion.ts';
import type { DaemonConnection } from '../daemon/connection.ts';
import { didChange, didClose, didOpen } from './messages.ts';

/** Schemes of what people write in; not the chat's own input, an output channel or an old revision. */
export const documentSchemes = ['file', 'untitled', 'vscode-notebook-cell'] as const;

/** The daemon's copy of the documents that are open, which completion is written from. */
export interface DocumentSync extends vscode.Disposable {
  /** Tells of this one too, where it was not told yet. Returns whether the daemon knows it now. */
  tell(document: vscode.TextDocument): boolean;
}

/** Characters above which a document is not told: nobody completes in a dump, and each window would hold it twice. */
const largest = 10_000_000;

/** Modelfiles are told by the language client already, whatever their scheme. */
const toldElsewhere = 'modelfile';

/**
 * Tells of documents from now on, all of them anew to each new daemon, until it is disposed: of those that the user
 * sees, as soon as they do, because an editor opens many more for its own ends.
 */
export function syncDocuments(daemon: DaemonConnection): DocumentSync {
  const told = new Set<string>();
  const open = (document: vscode.TextDocument) => {
    if (!daemon.isConnected || !belongs(document) || told.has(document.uri.toString())) return;
    const text = document.getText();
    if (text.length > largest) return;
    const { languageId, version } = document;
    const uri = document.uri.toString();
    told.add(uri);
    daemon.notify(didOpen, { textDocument: { uri, languageId, version, text } });
  };
  const change = ({ document, contentChanges }: vscode.TextDocumentChangeEvent) => {
    const uri = document.uri.toString();
    if (contentChanges.length === 0 || !told.has(uri)) return;
    const changes = contentChanges.map(({ range, text }) => ({ range: toRange(range), text }));
    daemon.notify(didChange, { textDocument: { uri, version: document.version }, contentChanges: changes });
  };
  const close = (uri: string) => {
    if (told.delete(uri)) daemon.notify(didClose, { textDocument: { uri } });
  };
  const openVisible = () => {
    const { visibleTextEditors, activeTextEditor } = vscode.window;
    // The last one is where the user is.
    for (const editor of visibleTextEditors) if (editor !== activeTextEditor) open(editor.document);
    if (activeTextEditor) open(activeTextEditor.document);
  };
  const openAnew = () => {
    const before = new Set(told);
    told.clear();
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
    tell(document) {
      open(document);
      return document.languageId === toldElsewhere || told.has(document.uri.toString());
    },
    dispose() {
      for (const listener of listeners) listener.dispose();
      for (const uri of [...told]) close(uri);
    },
  };
}

function belongs({ uri, languageId }: vscode.TextDocument): boolean {
  return languageId !== toldElsewhere && documentSchemes.some((scheme) => scheme === uri.scheme);
}

export function toRange({ start, end }: vscode.Range): TextRange {
  return { start: toPosition(start), end: toPosition(end) };
}

/** Both count lines and UTF-16 units from 0. */
export function toPosition({ line, character }: vscode.Position): TextPosition {
  return { line, character };
}
