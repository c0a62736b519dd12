import * as vscode from 'vscode';
import { defaultCatalogUrl, defaultHost, type RunnerOptions } from '../../protocol/initialize.ts';
import { isServer } from './daemon/servers.ts';

/**
 * The settings under `runner` that the daemon takes, as they are now; what is not set is left out, and so is what has
 * the wrong type, which the editor underlines: one mistake does not switch off all else.
 */
export function readSettings(): RunnerOptions {
  const settings = vscode.workspace.getConfiguration('runner');
  const given = Object.entries(types).flatMap(([key, isRight]) => {
    const value: unknown = settings.get(key);
    return isUnset(value) || !isRight(value) ? [] : [[key, value] as const];
  });
  return Object.fromEntries(given);
}

/** The same for a daemon that has been told others: it keeps what it is not told, so that an address taken back is said. */
export function readChangedSettings(): RunnerOptions {
  const host = process.env['OLLAMA_HOST'] || defaultHost;
  return { host, catalogUrl: defaultCatalogUrl, servers: [], completionModel: '', ...readSettings() };
}

const isText = (value: unknown) => typeof value === 'string';
const isCount = (value: unknown) => Number.isInteger(value) && Number(value) >= 0;
const isTexts = (value: unknown) => Array.isArray(value) && value.every(isText);
const isCounts = (value: unknown) =>
  typeof value === 'object' && value !== null && Object.values(value).every(isCount);

const types: Readonly<Record<string, (value: unknown) => boolean>> = {
  host: isText,
  servers: (value) => Array.isArray(value) && value.every(isServer),
  completionModel: isText,
  logLevel: isText,
  modelfilesPath: isText,
  keepAlive: (value) => isText(value) || typeof value === 'number',
  contextLength: isCount,
  catalogUrl: isText,
  exclude: isTexts,
  caFile: isText,
  timeouts: isCounts,
};

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

/** How thinking reaches who asks the provider: as a part of its own where the editor has one, or always as a quote. */
export function thinkingFormat(): 'auto' | 'quote' {
  return vscode.workspace.getConfiguration('runner').get('thinkingFormat') === 'quote' ? 'quote' : 'auto';
}

/** Where the document service answers, as it was written; `""` is nowhere. The daemon has nothing to do with it. */
export function docsUrl(): string {
  const value: unknown = vscode.workspace.getConfiguration('runner').get('docsUrl');
  return typeof value === 'string' ? value : '';
}

/** Writes a setting where its value comes from now: in the workspace if that has one, else for the user. */
export async function updateSetting(key: string, value: unknown): Promise<void> {
  const settings = vscode.workspace.getConfiguration('runner');
  const { workspaceValue } = settings.inspect(key) ?? {};
  const { Global, Workspace } = vscode.ConfigurationTarget;
  await settings.update(key, value, workspaceValue === undefined ? Global : Workspace);
}
