import { isAbsolute } from 'node:path';
import { fileURLToPath } from 'node:url';
import type {
  ClientCapabilities,
  InitializeParams,
  InitializeResult,
  ServerCapabilities,
  TextDocumentSyncKind,
} from 'vscode-languageserver/node';
import { completionAcceptedCommand, lifecycleCommands } from '../../protocol/messages/completion.ts';
import { protocolVersion, type RunnerCapabilities } from '../../protocol/messages/initialize.ts';
import { InvalidParamsError } from '../base/errors.ts';

/** @throws {InvalidParamsError} if the editor needs a version that this daemon does not speak. */
export function requireVersion({ experimental }: ClientCapabilities): void {
  const wanted: unknown = experimental?.runner?.protocolVersion;
  if (wanted === undefined || wanted === null || wanted === protocolVersion) return;
  throw new InvalidParamsError(
    'capabilities.experimental.runner.protocolVersion',
    `this runnerd speaks version ${protocolVersion}; ${Number(wanted) > protocolVersion ? 'update Runner' : 'there is no other one'}`,
  );
}

interface Greeter {
  readonly version: string;
  /** Whether an option, the environment or the user named the address of the runner. */
  readonly isHostNamed: boolean;
  /** Names of the tool servers that the user has entered and not disabled. */
  readonly toolServers: readonly string[];
}

/** The answer to `initialize`. It loads nothing, because it is given before the rest of the daemon is loaded. */
export function greetingTo(
  editor: ClientCapabilities,
  { version, isHostNamed, toolServers }: Greeter,
): InitializeResult {
  const runner: RunnerCapabilities = { protocolVersion, isHostNamed, toolServers };
  return {
    capabilities: { ...capabilitiesFor(editor), experimental: { runner } },
    serverInfo: { name: 'runnerd', version },
  };
}

function capabilitiesFor(editor: ClientCapabilities): ServerCapabilities {
  return {
    textDocumentSync: { openClose: true, change: incremental, save: true },
    executeCommandProvider: {
      commands: [...Object.values(lifecycleCommands), completionAcceptedCommand],
      workDoneProgress: true,
    },
    hoverProvider: true,
    completionProvider: { triggerCharacters: [' '] },
    ...(takesRegistration(editor) ? {} : { inlineCompletionProvider: true }),
  };
}

/**
 * Whether the editor supports dynamic registration. Then inline completion is announced only while there is a model for
 * it.
 */
export function takesRegistration({ textDocument }: ClientCapabilities): boolean {
  return textDocument?.inlineCompletion?.dynamicRegistration === true;
}

const incremental = 2 satisfies typeof TextDocumentSyncKind.Incremental;

/**
 * The folder of the workspace; undefined if there is none, or if it is not on this machine. Nobody has checked what the
 * editor sent, so an address that is no text counts as none.
 */
export function workspaceRoot({ workspaceFolders, rootUri, rootPath }: Workspace): string | undefined {
  return tryFolder(workspaceFolders?.[0]?.uri ?? rootUri ?? rootPath);
}

/** All folders of the workspace that are on this machine. */
export function allWorkspaceFolders({ workspaceFolders, rootUri, rootPath }: Workspace): readonly string[] {
  const uris: readonly unknown[] = Array.isArray(workspaceFolders)
    ? workspaceFolders.map((folder: { readonly uri?: unknown } | null) => folder?.uri)
    : [rootUri ?? rootPath];
  return uris.map(tryFolder).filter((folder) => folder !== undefined);
}

type Workspace = Pick<InitializeParams, 'workspaceFolders' | 'rootUri' | 'rootPath'>;

/** Older editors send a path. */
function tryFolder(uri: unknown): string | undefined {
  if (typeof uri === 'string' && isAbsolute(uri)) return uri;
  if (typeof uri !== 'string' || !uri.startsWith('file:')) return undefined;
  try {
    return fileURLToPath(uri);
  } catch {
    return undefined;
  }
}
