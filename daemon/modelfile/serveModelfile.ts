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
import type { Endpoint } from '../rpc/endpoint.ts';
import { ConnectionError, documentPositionSchema } from '../rpc/languageServer.ts';
import type { Works } from '../rpc/workDoneProgress.ts';
import type { Runner } from '../runner/runner.ts';
import { createModel } from './create.ts';
import { completionsAt, hoverAt, markupFormats } from './editorHelp.ts';
import { maxModelfileBytes, readDocument, readModelfile, toDiagnostics, toParseResult } from './modelfile.ts';
import { resolveSources } from './modelSources.ts';

/** Answers the requests about Modelfiles. `onDidChange` is called when a model was created. */
export function serveModelfile(
  endpoint: Endpoint,
  {
    places,
    works,
    onDidChange,
  }: {
    readonly places: ModelPlaces;
    readonly works: Works;
    readonly onDidChange: (runner: Runner) => void;
  },
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
export class ModelfileLanguage {
  readonly #waiting = new Map<string, NodeJS.Timeout>();
  #formats = markupFormats({});

  constructor(
    private readonly connection: Connection,
    private readonly documents: TextDocuments<TextDocument>,
    private readonly log: Log,
    private readonly closed: AbortSignal,
  ) {
    const watch = (take: (document: TextDocument) => void) => {
      return ({ document }: { readonly document: TextDocument }) => {
        if (isModelfile(document)) take(document);
      };
    };
    documents.onDidOpen(watch((document) => this.#publish(document)));
    // Opening a document also fires a change, which is harmless.
    documents.onDidChangeContent(watch((document) => this.#publishLater(document)));
    documents.onDidSave(watch((document) => this.#publish(document)));
    documents.onDidClose(watch((document) => this.#forget(document)));
    closed.addEventListener('abort', () => {
      for (const timer of this.#waiting.values()) clearTimeout(timer);
    });
  }

  /** Explanations have the format that this editor reads from now on. */
  start(editor: ClientCapabilities): void {
    this.#formats = markupFormats(editor);
  }

  /** Answers the requests of editors. `installed` are the names of models for completion. */
  serve(endpoint: Endpoint, installed: (signal: AbortSignal) => Promise<readonly string[]>): void {
    endpoint.onRequest(hoverRequest, documentPositionSchema, async ({ textDocument, position }) => {
      const document = this.#modelfileAt(textDocument.uri);
      return (document && hoverAt(document, position, this.#formats.hover)) ?? null;
    });
    endpoint.onRequest(
      completionRequest,
      documentPositionSchema,
      async ({ textDocument, position }, signal) => {
        const document = this.#modelfileAt(textDocument.uri);
        if (!document) return [];
        const reason = new Error('The runner took too long to list its models.');
        const namesInTime = () =>
          withTimeLimit({ limit: namesWithin, reason, signal }, installed).catch(() => []);
        const sources = { installed: namesInTime, format: this.#formats.documentation };
        return completionsAt(document, position, sources);
      },
    );
  }

  #modelfileAt(uri: string): TextDocument | undefined {
    const document = this.documents.get(uri);
    return document && isModelfile(document) && !isTooLarge(document) ? document : undefined;
  }

  #publish(document: TextDocument): void {
    diagnose(this.connection, this.documents, document).catch((error) => {
      if (!this.closed.aborted) this.log.error(`A Modelfile could not be checked: ${String(error)}`);
    });
  }

  #publishLater(document: TextDocument): void {
    clearTimeout(this.#waiting.get(document.uri));
    const timer = setTimeout(() => {
      this.#waiting.delete(document.uri);
      this.#publish(document);
    }, restFor);
    this.#waiting.set(document.uri, timer);
  }

  #forget({ uri }: TextDocument): void {
    clearTimeout(this.#waiting.get(uri));
    this.#waiting.delete(uri);
    void sendDiagnostics(this.connection, { uri, diagnostics: [] });
  }
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
