import { dirname } from 'node:path';
import { fileURLToPath } from 'node:url';
import type {
  ClientCapabilities,
  CompletionItem,
  Connection,
  Hover,
  PublishDiagnosticsParams,
  TextDocuments,
} from 'vscode-languageserver/node';
import type { TextDocument } from 'vscode-languageserver-textdocument';
import * as z from 'zod/mini';
import { withTimeLimit } from '../../protocol/base/abort.ts';
import type { DocumentPosition } from '../../protocol/messages/completion.ts';
import type { RequestMessage } from '../../protocol/messages/messageTypes.ts';
import { parseModelfileRequest } from '../../protocol/messages/modelfile.ts';
import { createModelRequest } from '../../protocol/messages/models.ts';
import type { Log } from '../base/log.ts';
import { exact } from '../base/validate.ts';
import type { ModelPlaces } from '../models/modelPlaces.ts';
import { createParamsSchema } from '../models/params.ts';
import { documentPositionSchema } from '../rpc/documentPosition.ts';
import type { Endpoint } from '../rpc/endpoint.ts';
import { ConnectionError } from '../rpc/languageServer.ts';
import type { Works } from '../rpc/workDoneProgress.ts';
import type { Runner } from '../runner/runner.ts';
import { createModel } from './create.ts';
import { completionsAt, hoverAt, markupFormats } from './editorHelp.ts';
import { maxModelfileBytes, readDocument, readModelfile, toDiagnostics, toParseResult } from './modelfile.ts';
import { resolveSources } from './modelSources.ts';

export interface ModelfileDependencies {
  readonly places: ModelPlaces;
  readonly works: Works;
  /** Called when a model was created. */
  readonly onDidChange: (runner: Runner) => void;
}

/** Answers the requests about Modelfiles. */
export function serveModelfile(
  endpoint: Endpoint,
  { places, works, onDidChange }: ModelfileDependencies,
): void {
  const megabytes = maxModelfileBytes / 1024 / 1024;
  const text = z.string().check(z.maxLength(maxModelfileBytes, `it has more than ${megabytes} MB`));
  endpoint.onRequest(parseModelfileRequest, exact(z.object({ text })), async (params) =>
    toParseResult(readModelfile(params.text)),
  );
  endpoint.onRequest(createModelRequest, createParamsSchema, async (params, requested) => {
    const { runner, model } = await places.place(params, requested);
    const { workDoneToken: token } = params;
    await works.run({ title: `Creating ${model}`, token, signal: requested }, (report, signal) =>
      createModel(runner, { ...params, model }, { report, signal }),
    );
    onDidChange(runner);
    return { model };
  });
}

export interface ModelfileLanguageOptions {
  readonly documents: TextDocuments<TextDocument>;
  readonly installed: (signal: AbortSignal) => Promise<readonly string[]>;
  readonly log: Log;
  readonly closed: AbortSignal;
}

/** How long the text must rest before it is checked, in ms. */
const restFor = 150;
/**
 * How long completion waits for the runner, in ms, so that a runner that is down does not hold up the rest of the list.
 */
const namesWithin = 1_000;

const hoverRequest: RequestMessage<DocumentPosition, Hover | null> = { method: 'textDocument/hover' };
const completionRequest: RequestMessage<DocumentPosition, readonly CompletionItem[]> = {
  method: 'textDocument/completion',
};

/** Diagnostics, hover and completion for Modelfiles over plain LSP, so that every editor has them. */
export function serveModelfileLanguage(
  connection: Connection,
  endpoint: Endpoint,
  options: ModelfileLanguageOptions,
) {
  const { documents, log, closed } = options;
  let formats = markupFormats({});
  const waiting = new Map<string, NodeJS.Timeout>();

  const publish = (document: TextDocument) => {
    diagnose(connection, documents, document).catch((error) => {
      if (!closed.aborted) log.error(`A Modelfile could not be checked: ${String(error)}`);
    });
  };
  const forget = (uri: string) => {
    clearTimeout(waiting.get(uri));
    waiting.delete(uri);
  };
  const later = (document: TextDocument) => {
    forget(document.uri);
    const timer = setTimeout(() => {
      waiting.delete(document.uri);
      publish(document);
    }, restFor);
    waiting.set(document.uri, timer);
  };

  documents.onDidOpen(({ document }) => {
    if (!isModelfile(document)) return;
    publish(document);
  });
  documents.onDidChangeContent(({ document }) => {
    // Opening a document also fires a change, which is harmless.
    if (isModelfile(document)) later(document);
  });
  documents.onDidSave(({ document }) => {
    if (isModelfile(document)) publish(document);
  });
  documents.onDidClose(({ document }) => {
    if (!isModelfile(document)) return;
    forget(document.uri);
    void sendDiagnostics(connection, { uri: document.uri, diagnostics: [] });
  });
  closed.addEventListener('abort', () => {
    for (const timer of waiting.values()) clearTimeout(timer);
  });

  const modelfileAt = (uri: string) => {
    const document = documents.get(uri);
    return document && isModelfile(document) && !isTooLarge(document) ? document : undefined;
  };
  endpoint.onRequest(hoverRequest, documentPositionSchema, async ({ textDocument, position }) => {
    const document = modelfileAt(textDocument.uri);
    return (document && hoverAt(document, position, formats.hover)) ?? null;
  });
  endpoint.onRequest(
    completionRequest,
    documentPositionSchema,
    async ({ textDocument, position }, signal) => {
      const document = modelfileAt(textDocument.uri);
      if (!document) return [];
      const reason = new Error('The runner took too long to list its models.');
      const installed = () =>
        withTimeLimit({ limit: namesWithin, reason, signal }, options.installed).catch(() => []);
      const sources = { installed, format: formats.documentation };
      return completionsAt(document, position, sources);
    },
  );
  return {
    /** Explanations have the format that this editor reads from now on. */
    start(editor: ClientCapabilities): void {
      formats = markupFormats(editor);
    },
  };
}

/** Decides by the language, or by the name if the editor does not know the language. */
function isModelfile({ languageId, uri }: TextDocument): boolean {
  if (languageId.toLowerCase() === 'modelfile') return true;
  return /^(plaintext|text|)$/.test(languageId) && /(^|\/|\.)modelfile(\.[\w-]+)?$/i.test(uri);
}

/** Publishes what is wrong with a document, if the document is still open and this is still its newest version. */
async function diagnose(
  connection: Connection,
  documents: TextDocuments<TextDocument>,
  document: TextDocument,
): Promise<void> {
  const { uri, version } = document;
  const diagnostics = isTooLarge(document) ? [tooLarge] : await diagnosticsOf(document);
  if (documents.get(uri)?.version !== version) return;
  await sendDiagnostics(connection, {
    uri,
    version,
    diagnostics: diagnostics.map((diagnostic) => ({ ...diagnostic, source: 'runner' })),
  });
}

/** An editor that is gone needs no diagnostics. */
async function sendDiagnostics(connection: Connection, params: PublishDiagnosticsParams): Promise<void> {
  try {
    await connection.sendDiagnostics(params);
  } catch (error) {
    if (!(error instanceof ConnectionError)) throw error;
  }
}

async function diagnosticsOf(document: TextDocument) {
  const modelfile = readDocument(document);
  const { problems } = await resolveSources(modelfile.commands, folderOf(document.uri));
  return toDiagnostics(document, [...modelfile.problems, ...problems]);
}

function isTooLarge(document: TextDocument): boolean {
  return document.getText().length > maxModelfileBytes;
}

const tooLarge = {
  range: { start: { line: 0, character: 0 }, end: { line: 0, character: 1 } },
  message: `This file has more than ${maxModelfileBytes / 1024 / 1024} MB, so it is not checked.`,
  severity: 2 as const,
};

/** The folder of a document. Undefined if it was never saved, or if its address is not a path of this system. */
function folderOf(uri: string): string | undefined {
  try {
    return uri.startsWith('file:') ? dirname(fileURLToPath(uri)) : undefined;
  } catch {
    return undefined;
  }
}
