import * as vscode from 'vscode';
import type { ChangedOptions, RunnerOptions } from '../../protocol/messages/initialize.ts';
import { fits, type ValueSchema } from './valueSchema.ts';

/** Settings of the extension alone: the daemon has nothing to do with them. It follows the log when it is asked to. */
const own: ReadonlySet<string> = new Set([
  'completionOffIn',
  'docsUrl',
  'streamLogs',
  'thinkingFormat',
  'tools',
]);

/** The settings under `runner` that the daemon takes, as they are now, without those that have their default. */
export function readSettings(): RunnerOptions {
  return Object.fromEntries(settingsForDaemon().filter(([, value]) => value !== null));
}

/** The same for a daemon that runs: what has its default is null. */
export function readChangedSettings(): ChangedOptions {
  return Object.fromEntries(settingsForDaemon());
}

/** All that there are. The daemon names those that it does not know. */
function settingsForDaemon(): readonly (readonly [key: string, value: unknown])[] {
  const settings = vscode.workspace.getConfiguration('runner');
  const schemas = readSchemas();
  return Object.keys(settings)
    .filter((key) => typeof settings[key] !== 'function' && !own.has(key))
    .map((key) => [key, readSetting(settings, key, schemas[`runner.${key}`])]);
}

/**
 * Null where it has its default, and where it has the wrong type, which the editor underlines: one mistake does not
 * switch off all else. While the workspace is not trusted, what it says counts for nothing, whatever the editor lets
 * through, so that all of it is the user's.
 */
function readSetting(
  settings: vscode.WorkspaceConfiguration,
  key: string,
  schema: ValueSchema | undefined,
): unknown {
  const inspected = settings.inspect<unknown>(key);
  const isOfWorkspace =
    inspected?.workspaceValue !== undefined || inspected?.workspaceFolderValue !== undefined;
  const value =
    isOfWorkspace && !vscode.workspace.isTrusted ? inspected?.globalValue : settings.get<unknown>(key);
  const isDefault = JSON.stringify(value) === JSON.stringify(inspected?.defaultValue);
  return value === undefined || isDefault || !fits(value, schema) ? null : value;
}

/** As the manifest has them, by their whole names. */
function readSchemas(): Readonly<Record<string, ValueSchema>> {
  const manifest = vscode.extensions.getExtension('model-runner.runner')?.packageJSON;
  return manifest?.contributes?.configuration?.properties ?? {};
}

export function streamLogs(): boolean {
  return vscode.workspace.getConfiguration('runner').get<boolean>('streamLogs') ?? false;
}

/** The model that answers `@runner`; `""` leaves it to the picker. */
export function chatModel(): string {
  return vscode.workspace.getConfiguration('runner').get<string>('chatModel')?.trim() ?? '';
}

/** The model of inline completion; `""` is none. */
export function completionModel(): string {
  return vscode.workspace.getConfiguration('runner').get<string>('completionModel')?.trim() ?? '';
}

/** Ids of languages in which nothing is completed. */
export function completionOffIn(): readonly string[] {
  const value: unknown = vscode.workspace.getConfiguration('runner').get('completionOffIn');
  return Array.isArray(value) ? value.filter((id) => typeof id === 'string') : [];
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
