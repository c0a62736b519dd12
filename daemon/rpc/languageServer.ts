import * as z from 'zod/mini';
import type { DocumentPosition } from '../../protocol/messages/completion.ts';
import { exact, type Schema } from '../base/validate.ts';

/**
 * What the daemon uses of the language server library. Only this file imports it, apart from types: a bundler gives
 * each file that imports a CommonJS library a copy of all of its exports, which are 700 here.
 */
export {
  AbstractMessageReader,
  AbstractMessageWriter,
  CancellationTokenSource,
  CompletionItemKind,
  ConnectionError,
  createConnection,
  ErrorCodes,
  LSPErrorCodes,
  ResponseError,
  TextDocuments,
} from 'vscode-languageserver/node';

const count = z.int().check(z.gte(0));

export const positionSchema = z.object({ line: count, character: count });

export const documentPositionFields = {
  textDocument: z.object({ uri: z.string() }),
  position: positionSchema,
};

/** A place in a document; what else LSP sends with it is not read. */
export const documentPositionSchema: Schema<DocumentPosition> = exact(z.object(documentPositionFields));
