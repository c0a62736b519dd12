import { readFileSync, writeFileSync } from 'node:fs';
import t, { type Test } from 'tap';
import type { SettingName } from '../daemon/config/settings.ts';
import {
  editorTable,
  luaHelp,
  luaModule,
  type ManifestSetting,
  names,
  protocolTable,
  rowOf,
  toManifest,
} from './support/settingsPages.ts';

/** What says the same as the table of settings; with `ACCEPT=1` it is written. */
const isAccepting = process.env['ACCEPT'] === '1';

/** What Neovim says by itself: nobody sets it. */
const saidByNeovim: readonly SettingName[] = ['sendsUserSettings', 'refusedTools'];
/** What VS Code says by itself, or runs itself, besides what counts at the start alone. */
const saidByEditor: readonly SettingName[] = ['cacheDir', 'mcpServers'];

t.test('docs/PROTOCOL.md shows the table of settings', async (t) => {
  holds(t, 'docs/PROTOCOL.md', (page) => withTable(page, protocolTable()));
});

t.test("VS Code's manifest and its page have every setting, and guard what the daemon guards", async (t) => {
  const offered = names.filter((name) => !rowOf(name).isForStart && !saidByEditor.includes(name));
  holds(t, 'package.json', (text) => {
    const manifest = JSON.parse(text);
    const { properties } = manifest.contributes.configuration;
    for (const name of offered) properties[`runner.${name}`] = toManifest(name, properties[`runner.${name}`]);
    const { untrustedWorkspaces } = manifest.capabilities;
    untrustedWorkspaces.restrictedConfigurations = [
      ...new Set([
        ...untrustedWorkspaces.restrictedConfigurations,
        ...offered.filter((name) => !rowOf(name).isHarmless).map((name) => `runner.${name}`),
      ]),
    ];
    return `${JSON.stringify(manifest, null, 2)}\n`;
  });
  const { contributes } = JSON.parse(readFileSync('package.json', 'utf8'));
  const properties: Readonly<Record<string, ManifestSetting>> = contributes.configuration.properties;
  holds(t, 'docs/VSCODE.md', (page) => withTable(page, editorTable(properties)));
  for (const name of offered) {
    const { default: value } = properties[`runner.${name}`] ?? {};
    const isEmpty = value === 0 || Object.keys(Object(value)).length === 0;
    t.ok(isEmpty && value !== true ? true : value === rowOf(name).default, `the default of ${name}`);
  }
});

t.test('Neovim takes every setting', async (t) => {
  const own = names.filter((name) => !saidByNeovim.includes(name));
  holds(t, 'client/neovim/lua/runner/settings.lua', () => luaModule(own));
  const help = 'client/neovim/doc/runner.txt';
  holds(t, help, (page) => page.replace(/^ {2}host [\s\S]*?(?=\n\n)/m, () => luaHelp(own)));
});

t.test('every setting says what it does, in sentences', async (t) => {
  for (const name of names) t.match(rowOf(name).says, /^[A-Z][^|]*[.]$/, name);
});

/** The file is as it is made; `ACCEPT=1` makes it so. */
function holds(t: Test, path: string, make: (now: string) => string): void {
  const now = read(path);
  const made = make(now);
  if (isAccepting) writeFileSync(path, made);
  else t.equal(now, made, `${path} (ACCEPT=1 node .tap-build/settings.test.mjs writes it)`);
}

function read(path: string): string {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    return '';
  }
}

/** The table with the same first cell in the place of the one that is there. */
function withTable(page: string, table: string): string {
  const [head = ''] = table.split('\n');
  const lines = page.split('\n');
  const at = lines.findIndex((line) => line.startsWith(head.slice(0, head.indexOf('|', 1))));
  const end = lines.findIndex((line, index) => index > at && !line.startsWith('|'));
  return [...lines.slice(0, at), table, ...lines.slice(end)].join('\n');
}
