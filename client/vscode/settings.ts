import * as vscode from 'vscode';
import { defaultCatalogUrl, defaultHost, type RunnerOptions } from '../../protocol/initialize.ts';

/** The settings under `runner` that the daemon takes, as they are now; what is not set is left out. */
export function readSettings(): RunnerOptions {
  const settings = vscode.workspace.getConfiguration('runner');
  const given = keys.flatMap((key) => {
    const value: unknown = settings.get(key);
    return isUnset(value) ? [] : [[key, value] as const];
  });
  return Object.fromEntries(given);
}

/** The same for a daemon that has been told others: it keeps what it is not told, so that an address taken back is said. */
export function readChangedSettings(): RunnerOptions {
  const host = process.env['OLLAMA_HOST'] || defaultHost;
  return { host, catalogUrl: defaultCatalogUrl, servers: [], completionModel: '', ...readSettings() };
}

const keys = [
  'host',
  'servers',
  'completionModel',
  'logLevel',
  'modelfilesPath',
  'keepAlive',
  'contextLength',
  'catalogUrl',
  'exclude',
  'caFile',
  'timeouts',
] as const;

function isUnset(value: unknown): boolean {
  return value === undefined || value === null || value === '';
}

export function streamLogs(): boolean {
  return vscode.workspace.getConfiguration('runner').get<boolean>('streamLogs') ?? false;
}

/** The model of inline completion; `""` is none. */
export function completionModel(): string {
  return vscode.workspace.getConfiguration('runner').get<string>('completionModel')?.trim() ?? '';
}

/** Tokens of the window to ask for; 0 leaves it to the runner. */
export function contextLength(): number {
  return vscode.workspace.getConfiguration('runner').get<number>('contextLength') ?? 0;
}
