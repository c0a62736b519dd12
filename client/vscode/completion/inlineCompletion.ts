import * as vscode from 'vscode';
import {
  type InlineCompletionItem,
  type InlineCompletionParams,
  inlineCompletionRequest,
} from '../../../protocol/messages/completion.ts';
import type {
  NotificationMessage,
  TextPosition,
  TextRange,
} from '../../../protocol/messages/messageTypes.ts';
import type { DaemonConnection } from '../daemon/connection.ts';
import { documentSchemes } from '../daemon/startedDaemon.ts';
import { completionModel } from '../settings.ts';
import { stepDone } from '../walkthrough/walkthrough.ts';

/** Completes in documents while a model is set. Without one, nothing is registered and no document is sent. */
export function registerInlineCompletion(
  daemon: DaemonConnection,
  log: vscode.LogOutputChannel,
  isOn: (languageId: string) => boolean,
): vscode.Disposable {
  let registered: vscode.Disposable | undefined;
  const follow = () => {
    const isWanted = completionModel() !== '';
    if (isWanted === (registered !== undefined)) return;
    registered?.dispose();
    registered = isWanted ? register(daemon, log, isOn) : undefined;
  };
  const listening = vscode.workspace.onDidChangeConfiguration((event) => {
    if (event.affectsConfiguration('runner.completionModel')) follow();
  });
  follow();
  return new vscode.Disposable(() => {
    listening.dispose();
    registered?.dispose();
  });
}

function register(
  daemon: DaemonConnection,
  log: vscode.LogOutputChannel,
  isOn: (languageId: string) => boolean,
): vscode.Disposable {
  const documents = syncDocuments(daemon);
  let hasCompleted = false;
  /** Ticks a step of the walkthrough once. */
  const tick = () => {
    if (!hasCompleted) void vscode.commands.executeCommand(...stepDone('hasCompleted'));
    hasCompleted = true;
  };
  const provider: vscode.InlineCompletionItemProvider = {
    async provideInlineCompletionItems(document, position, context, token) {
      if (!isOn(document.languageId)) {
        log.trace(`No completion: it is snoozed, or off in ${document.languageId}.`);
        return undefined;
      }
      try {
        const items = await complete(daemon, documents, { document, position, context, token });
        if (items && items.length > 0) tick();
        return items;
      } catch (error) {
        // The user did not ask for this completion: only the status bar reports failures.
        if (!token.isCancellationRequested) log.debug(`No completion: ${String(error)}`);
        return undefined;
      }
    },
  };
  const selector = documentSchemes.map((scheme) => ({ scheme }));
  return vscode.Disposable.from(
    documents,
    vscode.languages.registerInlineCompletionItemProvider(selector, provider),
  );
}

interface CompletionRequest {
  readonly document: vscode.TextDocument;
  readonly position: vscode.Position;
  readonly context: vscode.InlineCompletionContext;
  readonly token: vscode.CancellationToken;
}

async function complete(
  daemon: DaemonConnection,
  documents: ReturnType<typeof syncDocuments>,
  { document, position, context, token }: CompletionRequest,
): Promise<vscode.InlineCompletionItem[] | undefined> {
  // A daemon that is still starting has no document yet; the next key asks again.
  if (!documents.open(document)) return undefined;
  const result = await daemon.request(
    inlineCompletionRequest,
    {
      textDocument: { uri: document.uri.toString() },
      position: toPosition(position),
      context: toContext(context),
    },
    token,
  );
  return result?.items.map(toItem);
}

function toContext({
  triggerKind,
  selectedCompletionInfo: selected,
}: vscode.InlineCompletionContext): InlineCompletionParams['context'] & {} {
  const { invoked, automatic } = triggerKinds;
  const isInvoked = triggerKind === vscode.InlineCompletionTriggerKind.Invoke;
  return {
    triggerKind: isInvoked ? invoked : automatic,
    ...(selected && { selectedCompletionInfo: { range: toRange(selected.range), text: selected.text } }),
  };
}

/** The editor counts from 0, and LSP from 1. */
const triggerKinds = { invoked: 1, automatic: 2 } as const;

function toItem({
  insertText,
  range: { start, end },
  command,
}: InlineCompletionItem): vscode.InlineCompletionItem {
  const range = new vscode.Range(start.line, start.character, end.line, end.character);
  const accepted = { ...command, arguments: [...command.arguments] };
  return new vscode.InlineCompletionItem(insertText, range, accepted);
}

/** In characters. A longer document is not sent: it is probably a dump, and each window would hold it twice. */
const maxDocumentLength = 10_000_000;

/** The language client already sends Modelfiles of these schemes. */
const sentElsewhere = 'modelfile';

/**
 * The daemon's copy of the open documents, on which completion is based. Sends documents to the daemon until it is
 * disposed, and sends them all again to each new daemon. A document is sent once the user sees it, because an editor
 * opens many more for its own purposes.
 */
function syncDocuments(daemon: DaemonConnection) {
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

function toRange({ start, end }: vscode.Range): TextRange {
  return { start: toPosition(start), end: toPosition(end) };
}

/** Both sides count lines and UTF-16 units from 0. */
function toPosition({ line, character }: vscode.Position): TextPosition {
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
