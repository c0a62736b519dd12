import * as vscode from 'vscode';
import type { ErrorData } from '../../../protocol/messages/errors.ts';
import { messageOf } from '../errorText.ts';
import type { Failure } from './serverFailure.ts';

/** What the daemon says about a failure; undefined for any other error. */
export function errorDataOf(error: unknown): ErrorData | undefined {
  if (!(error instanceof Error) || !('data' in error)) return undefined;
  const { data } = error;
  const isKnown = typeof data === 'object' && data !== null && 'kind' in data;
  return isKnown ? (data as ErrorData) : undefined;
}

/** What a row says about it. */
export function toFailure(error: unknown): Failure {
  return { sentence: messageOf(error), kind: errorDataOf(error)?.kind };
}

/** The error in the form of the editor's language-model API, so that it is never shown as an answer. */
export function toLanguageModelError(error: unknown): Error {
  if (error instanceof vscode.LanguageModelError) return error;
  const message = error instanceof Error ? error.message : String(error);
  const kind = errorDataOf(error)?.kind;
  if (kind === 'model-not-found') return vscode.LanguageModelError.NotFound(message);
  if (kind === 'unauthorized') return vscode.LanguageModelError.NoPermissions(message);
  return new vscode.LanguageModelError(message);
}
