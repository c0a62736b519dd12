import { readFileSync } from 'node:fs';
import type { SettingName } from '../daemon/config/settingsTable.ts';
import { documentsManual, runnerManual } from './manualPages.ts';
import { openRpcDocument, schemaDocument } from './protocol/documents.ts';
import { lispTable, luaTypes, pythonTypes } from './protocol/languages.ts';
import { type ProtocolTypes, readProtocol } from './protocol/schema.ts';
import {
  editorTable,
  luaHelp,
  luaModule,
  type ManifestSetting,
  manifestNames,
  names,
  protocolTable,
  rowOf,
  toManifest,
} from './settingsPages.ts';

/**
 * A file that is made, or has a part that is made, from a table of the programs: settings, commands, or the types of
 * the protocol.
 */
export interface GeneratedFile {
  readonly path: string;
  /** The new text of the file. The parts that are not made stay as they are now. */
  readonly generate: (now: string) => string;
}

/** The plugin reports these about itself, so users cannot set them. */
const saidByNeovim: readonly SettingName[] = ['sendsUserSettings', 'refusedTools'];
/** VS Code chooses the cache folder and runs tool servers itself, so these would do nothing there. */
const saidByEditor: readonly SettingName[] = ['cacheDir', 'mcpServers'];

/** The settings of VS Code's manifest that the daemon reads. */
export const editorSettings = names.filter(
  (name) => rowOf(name).counts !== 'at the start' && !saidByEditor.includes(name),
);
const neovimSettings = names.filter((name) => !saidByNeovim.includes(name));

/** In the order in which they are written: the page of VS Code is made from its manifest. */
export const generatedFiles: readonly GeneratedFile[] = [
  { path: 'docs/PROTOCOL.md', generate: (page) => withTable(page, protocolTable()) },
  { path: 'package.json', generate: manifest },
  { path: 'docs/VSCODE.md', generate: (page) => withTable(page, editorTable(readManifestSettings())) },
  { path: 'client/neovim/lua/runner/settings.lua', generate: () => luaModule(neovimSettings) },
  {
    path: 'client/neovim/doc/runner.txt',
    generate: (page) => page.replace(/^ {2}host [\s\S]*?(?=\n\n)/m, () => luaHelp(neovimSettings)),
  },
  { path: 'man/runner.1', generate: runnerManual },
  { path: 'man/runner-docs.1', generate: documentsManual },
  { path: 'docs/protocol/schema.json', generate: () => schemaDocument(protocol()) },
  { path: 'docs/protocol/openrpc.json', generate: () => openRpcDocument(protocol()) },
  { path: 'docs/protocol/runner_protocol.py', generate: () => pythonTypes(protocol()) },
  { path: 'docs/protocol/runner-protocol.el', generate: () => lispTable(protocol()) },
  { path: 'client/neovim/lua/runner/protocol.lua', generate: () => luaTypes(protocol()) },
];

let read: ProtocolTypes | undefined;

/** Read once: the compiler takes half a second. */
function protocol(): ProtocolTypes {
  read ??= readProtocol();
  return read;
}

export function readManifestSettings(): Readonly<Record<string, ManifestSetting>> {
  return JSON.parse(readFileSync('package.json', 'utf8')).contributes.configuration.properties;
}

function manifest(text: string): string {
  const parsed = JSON.parse(text);
  const { properties } = parsed.contributes.configuration;
  for (const name of editorSettings)
    for (const own of manifestNames(name)) properties[own] = toManifest(name, own, properties[own]);
  const { untrustedWorkspaces } = parsed.capabilities;
  const guarded = editorSettings.filter((name) => rowOf(name).counts !== 'always').flatMap(manifestNames);
  untrustedWorkspaces.restrictedConfigurations = [
    ...new Set([...untrustedWorkspaces.restrictedConfigurations, ...guarded]),
  ];
  return `${JSON.stringify(parsed, null, 2)}\n`;
}

/** Replaces the table that has the same first cell. */
function withTable(page: string, table: string): string {
  const [head = ''] = table.split('\n');
  const lines = page.split('\n');
  const at = lines.findIndex((line) => line.startsWith(head.slice(0, head.indexOf('|', 1))));
  const end = lines.findIndex((line, index) => index > at && !line.startsWith('|'));
  return [...lines.slice(0, at), table, ...lines.slice(end)].join('\n');
}
