import * as vscode from 'vscode';
import {
  type InlineCompletionItem,
  type InlineCompletionParams,
  inlineCompletionRequest,
} from '../../../protocol/messages/completion.ts';
import type { DaemonConnection } from '../daemon/connection.ts';
import { documentSchemes } from '../daemon/startedDaemon.ts';
import { completionModel } from '../settings.ts';
import { stepDone } from '../walkthrough/stepKeys.ts';
import { type DocumentSync, syncDocuments, toPosition, toRange } from './documentSync.ts';

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
  documents: DocumentSync,
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
