import { dirname } from 'node:path';
import { fileURLToPath } from 'node:url';
import {
  type ClientCapabilities,
  type Connection,
  ConnectionError,
  type PublishDiagnosticsParams,
  type ServerCapabilities,
  type TextDocuments,
} from 'vscode-languageserver/node';
import type { TextDocument } from 'vscode-languageserver-textdocument';
import { withTimeLimit } from '../abort.ts';
import type { Log } from '../log.ts';
import { completionsAt } from './completion.ts';
import { hoverAt } from './hover.ts';
import { markupFormats, plainFormats } from './markup.ts';
import { readDocument, toDiagnostics } from './modelfile.ts';
import { maxModelfileBytes } from './modelfileText.ts';
import { resolveSources } from './resolve.ts';

export interface ModelfileLanguageOptions {
  readonly documents: TextDocuments<TextDocument>;
  readonly installed: (signal: AbortSignal) => Promise<readonly string[]>;
  readonly log: Log;
  readonly closed: AbortSignal;
}

export interface ModelfileLanguage {
  /** What `initialize` announces of it; from then on it speaks as this editor reads. */
  capabilitiesFor(editor: ClientCapabilities): ServerCapabilities;
}

/** How long the text rests before it is looked at, in ms. */
const restFor = 150;
/** How long completion waits for the runner, in ms: the rest of the list is not held up by a server that is down. */
const namesWithin = 1_000;

/** Diagnostics, hover and completion of Modelfiles by plain LSP, so that any editor has them. */
export function serveModelfileLanguage(
  connection: Connection,
  options: ModelfileLanguageOptions,
): ModelfileLanguage {
  const { documents, log, closed } = options;
  let formats = plainFormats;
  const waiting = new Map<string, NodeJS.Timeout>();

  const publish = (document: TextDocument) => {
    diagnose(connection, documents, document).catch((error) => {
      if (!closed.aborted) log.error(`A Modelfile could not be examined: ${String(error)}`);
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
    // The opening is told as a change too.
    if (isModelfile(document)) later(document);
  });
  documents.onDidSave(({ document }) => {
    if (isModelfile(document)) publish(document);
  });
  documents.onDidClose(({ document }) => {
    if (!isModelfile(document)) return;
    forget(document.uri);
    void tell(connection, { uri: document.uri, diagnostics: [] });
  });
  closed.addEventListener('abort', () => {
    for (const timer of waiting.values()) clearTimeout(timer);
  });

  const modelfileAt = (uri: string) => {
    const document = documents.get(uri);
    return document && isModelfile(document) && !isTooLarge(document) ? document : undefined;
  };
  connection.onHover(({ textDocument, position }) => {
    const document = modelfileAt(textDocument.uri);
    return document && hoverAt(document, position, formats.hover);
  });
  connection.onCompletion(async ({ textDocument, position }) => {
    const document = modelfileAt(textDocument.uri);
    if (!document) return [];
    const reason = new Error('The runner took too long to list its models.');
    const installed = () =>
      withTimeLimit({ limit: namesWithin, reason, signal: closed }, options.installed).catch(() => []);
    const sources = { installed, format: formats.documentation };
    return [...(await completionsAt(document, position, sources))];
  });
  return {
    capabilitiesFor(editor) {
      formats = markupFormats(editor);
      return { hoverProvider: true, completionProvider: { triggerCharacters: [' '] } };
    },
  };
}

/** By its language, or by its name where the editor knows no such language. */
function isModelfile({ languageId, uri }: TextDocument): boolean {
  if (languageId.toLowerCase() === 'modelfile') return true;
  return /^(plaintext|text|)$/.test(languageId) && /(^|\/|\.)modelfile(\.[\w-]+)?$/i.test(uri);
}

/** What is wrong with a document, as long as it is the newest version of an open one. */
async function diagnose(
  connection: Connection,
  documents: TextDocuments<TextDocument>,
  document: TextDocument,
): Promise<void> {
  const { uri, version } = document;
  const diagnostics = isTooLarge(document) ? [tooLarge] : await diagnosticsOf(document);
  if (documents.get(uri)?.version !== version) return;
  await tell(connection, {
    uri,
    version,
    diagnostics: diagnostics.map((diagnostic) => ({ ...diagnostic, source: 'runner' })),
  });
}

/** An editor that is gone needs to be told nothing. */
async function tell(connection: Connection, params: PublishDiagnosticsParams): Promise<void> {
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
  message: `It has more than ${maxModelfileBytes / 1024 / 1024} MB, and is not examined.`,
  severity: 2 as const,
};

/** A document that was never saved has none, and neither has one whose address is no path of this system. */
function folderOf(uri: string): string | undefined {
  try {
    return uri.startsWith('file:') ? dirname(fileURLToPath(uri)) : undefined;
  } catch {
    return undefined;
  }
}
