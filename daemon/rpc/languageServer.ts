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
