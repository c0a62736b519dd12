import * as vscode from 'vscode';
import type { ChangedOptions, RunnerOptions } from '../../protocol/messages/settings.ts';
import { countingValue, problemsOf, schemaOf, type ValueSchema } from './settingSchema.ts';

/** Settings that only the extension reads. For `streamLogs`, it sends a request. */
const own: ReadonlySet<string> = new Set([
  'codebase',
  'completionOffIn',
  'docsUrl',
  'modelThinking',
  'rules',
  'streamLogs',
  'think',
  'thinkingFormat',
  'tools',
]);

/** The settings under `runner` that the daemon takes, as they are now, without those that have their default. */
export function readSettings(): RunnerOptions {
  return Object.fromEntries(settingsForDaemon().filter(([, value]) => value !== null));
}

/** The same for a running daemon: null stands for the default. */
export function readChangedSettings(): ChangedOptions {
  return Object.fromEntries(settingsForDaemon());
}

/** All other settings. The daemon reports those that it does not know. */
function settingsForDaemon(): readonly (readonly [key: string, value: unknown])[] {
  const settings = vscode.workspace.getConfiguration('runner');
  const schemas = readSchemas();
  const { isTrusted } = vscode.workspace;
  return Object.keys(settings)
    .filter((key) => typeof settings[key] !== 'function' && !own.has(key))
    .map((key) => {
      const schema = schemaOf(schemas, `runner.${key}`);
      return [key, countingValue(settings.get(key), { ...settings.inspect(key), schema, isTrusted })];
    });
}

/** What is wrong in the settings, by the full name of each, such as `[1]: url is missing`. */
export function settingProblems(): readonly (readonly [name: string, problem: string])[] {
  const settings = vscode.workspace.getConfiguration();
  return Object.entries(readSchemas()).flatMap(([name, schema]) =>
    problemsOf(settings.get(name), schema).map((problem) => [name, problem] as const),
  );
}

/** The schemas of the manifest, by the full names of the settings. */
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

/** The context window to ask for, in tokens; 0 leaves it to the runner. */
export function contextLength(): number {
  return vscode.workspace.getConfiguration('runner').get<number>('contextLength') ?? 0;
}

/** Whether `#codebase` in a question searches the workspace. A workspace cannot say so unless it is trusted. */
export function isCodebaseSearched(): boolean {
  return vscode.workspace.getConfiguration('runner').get<boolean>('codebase') === true;
}

/** Whether `@runner` gets the rules of the workspace. A workspace cannot say so unless it is trusted. */
export function areRulesSent(): boolean {
  return vscode.workspace.getConfiguration('runner').get<boolean>('rules') === true;
}

/** How the provider passes on thinking: as a part of its own if the editor has one, or always as a quote. */
export function thinkingFormat(): 'auto' | 'quote' {
  return vscode.workspace.getConfiguration('runner').get('thinkingFormat') === 'quote' ? 'quote' : 'auto';
}

/** How much models think, in a word such as `off`. */
export function think(): string {
  return String(vscode.workspace.getConfiguration('runner').get('think') ?? 'auto');
}

/** The same for single models, by their names. */
export function modelThinking(): Readonly<Record<string, string>> {
  return vscode.workspace.getConfiguration('runner').get('modelThinking') ?? {};
}

/** The address of the document service, as the user wrote it; `""` is none. */
export function docsUrl(): string {
  const value: unknown = vscode.workspace.getConfiguration('runner').get('docsUrl');
  return typeof value === 'string' ? value : '';
}

/** Writes a setting to the workspace if its value comes from there, else to the user's settings. */
export async function updateSetting(key: string, value: unknown): Promise<void> {
  const settings = vscode.workspace.getConfiguration('runner');
  const { workspaceValue } = settings.inspect(key) ?? {};
  const { Global, Workspace } = vscode.ConfigurationTarget;
  await settings.update(key, value, workspaceValue === undefined ? Global : Workspace);
}
