import { homedir } from 'node:os';
import { join } from 'node:path';
import * as vscode from 'vscode';
import { showLine } from '../../../protocol/base/text.ts';
import { askForPlainHttp } from '../daemon/accessTokens.ts';
import { ollamaHost } from '../daemon/servers.ts';
import { type EditorTokenStore, needsPlainHttp } from '../daemon/tokenStore.ts';
import { readSettings, updateSetting } from '../settings.ts';
import { plain, withoutIcons } from '../ui/safeText.ts';
import { type ImportStep, planImport, toRow } from './continuePlan.ts';

/** "Import from Continue": shows what would be set, and sets what stays ticked. */
export async function importFromContinue(tokens: EditorTokenStore): Promise<void> {
  const uri = await findConfig();
  if (uri === undefined) return;
  const text = await readBounded(uri);
  const { parseContinueConfig } = await import('./continueConfig.ts');
  const config = parseContinueConfig(text, /\.json$/i.test(uri.path) ? 'json' : 'yaml');
  const settings = readSettings();
  const host = settings.host || ollamaHost();
  const now = { ...settings, ...(host && { host }) };
  const { steps, leftOut } = planImport(config, now);
  const without = leftOut.length === 0 ? '' : ` Left out: ${plain(showLine(leftOut.join('; ')))}.`;
  const path = uri.fsPath.replace(homedir(), '~');
  if (steps.length === 0)
    return void vscode.window.showInformationMessage(`There is nothing in ${path} to set.${without}`);
  const rows = steps.map((step) => toRow(step, now));
  const chosen = await vscode.window.showQuickPick(
    rows.map((row) => ({
      ...row,
      label: withoutIcons(showLine(row.label)),
      description: withoutIcons(showLine(row.description)),
    })),
    {
      title: `Import from ${path}`,
      placeHolder: `Nothing is set before OK.${without}`,
      canPickMany: true,
      ignoreFocusOut: true,
    },
  );
  if (chosen === undefined) return;
  let done = 0;
  for (const { step } of chosen) if (await follow(step, tokens)) done++;
  void vscode.window.showInformationMessage(`Set ${done} of ${steps.length} from Continue.${without}`);
}

/** False if the user decided against it. */
async function follow(step: ImportStep, tokens: EditorTokenStore): Promise<boolean> {
  if (step.kind === 'setting') await updateSetting(step.name, step.value);
  else if (step.kind === 'server')
    await updateSetting('servers', [...(readSettings().servers ?? []), step.server]);
  else {
    const allowPlainHttp = needsPlainHttp(step.origin) ? await askForPlainHttp(step.origin) : false;
    if (allowPlainHttp === undefined) return false;
    await tokens.set(step.origin, step.key, { allowPlainHttp });
  }
  return true;
}

/** Continue prefers the newer file. Without either, the user may name one. */
async function findConfig(): Promise<vscode.Uri | undefined> {
  const folder = process.env['CONTINUE_GLOBAL_DIR'] || join(homedir(), '.continue');
  for (const name of ['config.yaml', 'config.json']) {
    const uri = vscode.Uri.file(join(folder, name));
    if (await isFile(uri)) return uri;
  }
  const choose = 'Choose the File';
  const message = `There is no config.yaml and no config.json in ${folder}.`;
  if ((await vscode.window.showInformationMessage(message, choose)) !== choose) return undefined;
  const filters = { 'Configurations of Continue': ['yaml', 'yml', 'json'] };
  const [chosen] = (await vscode.window.showOpenDialog({ title: 'Import from Continue', filters })) ?? [];
  return chosen;
}

async function isFile(uri: vscode.Uri): Promise<boolean> {
  return vscode.workspace.fs.stat(uri).then(
    ({ type }) => (type & vscode.FileType.File) !== 0,
    () => false,
  );
}

/** In bytes. */
const maxConfig = 1024 * 1024;

async function readBounded(uri: vscode.Uri): Promise<string> {
  const { size } = await vscode.workspace.fs.stat(uri);
  if (!(await isFile(uri)) || size > maxConfig)
    throw new Error(`${uri.fsPath} is no configuration: it is no file, or has more than 1 MB.`);
  return new TextDecoder().decode(await vscode.workspace.fs.readFile(uri));
}
