import * as vscode from 'vscode';
import { isRecord } from '../../../protocol/base/json.ts';
import { count, messageOf } from '../../../protocol/base/text.ts';
import { probeCatalogRequest } from '../../../protocol/messages/models.ts';
import { defaultCatalogUrl, defaultHost, defaultServerName } from '../../../protocol/messages/settings.ts';
import {
  describeFound,
  discoverRequest,
  type FoundRunner,
  probeRequest,
  productNames,
  statusRequest,
} from '../../../protocol/messages/status.ts';
import { errorDataOf } from '../convert/failure.ts';
import type { DaemonConnection } from '../daemon/connection.ts';
import { ollamaHost } from '../daemon/servers.ts';
import { toDocsAddress } from '../documents/docsTokens.ts';
import { inStatusBar, sayBriefly } from '../models/work.ts';
import { docsUrl, readSettings, updateSetting } from '../settings.ts';
import type { ErrorReporter } from '../ui/errorReporter.ts';
import { inEditorWords } from '../ui/remedies.ts';
import { firstSentence, plain } from '../ui/safeText.ts';
import { adviseOnAddress, askForAddress } from './addressBox.ts';

/** The commands that ask for an address, try it, and store it in its setting, and that try a server again. */
export function registerAddressCommands(
  daemon: DaemonConnection,
  reporter: ErrorReporter,
): vscode.Disposable {
  const commands: Readonly<Record<string, (argument?: unknown) => Promise<unknown>>> = {
    'runner.setAddress': (server) =>
      setRunnerAddress(daemon, typeof server === 'string' ? server : undefined),
    'runner.setCatalogAddress': () => setCatalogAddress(daemon),
    'runner.setDocsAddress': setDocsAddress,
    'runner.openSetting': (name) => openSetting(String(name)),
    'runner.tryAgain': async () => {
      const answers = await retry(daemon);
      // The question may stay open for long.
      if (!answers) void useFound(daemon).catch((error) => reporter.report(error, { showToUser: true }));
      return answers;
    },
    'runner.tryServer': (row) => retry(daemon, serverOfRow(row)),
    'runner.setServerAddress': (row) => setRunnerAddress(daemon, serverOfRow(row)),
  };
  return vscode.Disposable.from(
    ...Object.entries(commands).map(([id, run]) => reporter.registerCommand(id, run)),
  );
}

/** The name in a row of the views that stands for a server. */
function serverOfRow(row: unknown): string | undefined {
  return isRecord(row) && typeof row['server'] === 'string' ? row['server'] : undefined;
}

/** Which servers there are is a setting; the one at `runner.host` is always there. */
async function setRunnerAddress(daemon: DaemonConnection, given: string | undefined): Promise<boolean> {
  const { host = '', servers = [] } = readSettings();
  const server = given ?? (await chooseServer([defaultServerName, ...servers.map(({ name }) => name)]));
  if (server === undefined) return false;
  const isDefault = server === defaultServerName;
  const environment = isDefault ? ollamaHost() : '';
  const address = await askForAddress({
    title: isDefault ? "The Runner's Address" : `The Address of the Server ${server}`,
    prompt: 'Where the runner answers. Enter tries it.',
    value: isDefault ? host : (servers.find(({ name }) => name === server)?.url ?? ''),
    placeholder: defaultHost,
    advise: (text) => adviseOnAddress(text, environment),
    probe: (url) => problemOf(daemon.request(probeRequest, { url, server })),
  });
  if (address === undefined || (address === '' && !isDefault)) return false;
  if (isDefault) await updateSetting('host', address === '' ? undefined : address);
  else
    await updateSetting(
      'servers',
      servers.map((one) => (one.name === server ? { ...one, url: address } : one)),
    );
  return true;
}

async function chooseServer(names: readonly string[]): Promise<string | undefined> {
  if (names.length === 1) return names[0];
  return vscode.window.showQuickPick(names, { title: 'The Address of Which Server?' });
}

async function setCatalogAddress(daemon: DaemonConnection): Promise<boolean> {
  const address = await askForAddress({
    title: "The Catalog's Address",
    prompt: `Where the public catalog is. Empty: ${defaultCatalogUrl}. Enter tries it.`,
    value: readSettings().catalogUrl ?? '',
    placeholder: defaultCatalogUrl,
    advise: (text) =>
      text.trim() === '' ? { kind: 'good', url: defaultCatalogUrl } : adviseOnAddress(text, ''),
    probe: (url) => problemOf(daemon.request(probeCatalogRequest, { url })),
  });
  if (address === undefined) return false;
  await updateSetting('catalogUrl', address === '' ? undefined : address);
  return true;
}

async function setDocsAddress(): Promise<boolean> {
  const address = await askForAddress({
    title: "The Document Service's Address",
    prompt: 'Where your document service answers. Empty: none.',
    value: docsUrl(),
    placeholder: 'http://127.0.0.1:4000',
    advise(text) {
      const found = toDocsAddress(text);
      return found.kind === 'wrong'
        ? { kind: 'wrong', message: found.message }
        : { kind: 'good', url: found.kind === 'set' ? found.origin : '' };
    },
    // A document service may want a sign-in, so it is not tried here.
    probe: async () => undefined,
  });
  if (address === undefined) return false;
  await updateSetting('docsUrl', address === '' ? undefined : address);
  return true;
}

/** A sentence about the failure of a probe. Nothing is wrong with a server that wants an access token. */
async function problemOf(probing: Promise<unknown>): Promise<string | undefined> {
  try {
    await probing;
    return undefined;
  } catch (error) {
    return errorDataOf(error)?.kind === 'unauthorized' ? undefined : messageOf(error);
  }
}

/** The editor's page of settings, in the part for the machine that the extension runs on. */
async function openSetting(name: string): Promise<void> {
  const page = vscode.env.remoteName === undefined ? 'openSettings' : 'openRemoteSettings';
  await vscode.commands.executeCommand(`workbench.action.${page}`, { query: `@id:${name}` });
}

/** What is said of the runner that was found takes the place of what was said of the former one. */
async function useFound(daemon: DaemonConnection): Promise<void> {
  if (await offerFound(daemon)) await retry(daemon);
}

/** The daemon announces the state that it finds; the user sees the sentence. */
async function retry(daemon: DaemonConnection, server?: string): Promise<boolean> {
  const status = await inStatusBar('Looking for the runner', () =>
    daemon.request(statusRequest, server === undefined ? {} : { server }),
  );
  for (const view of ['Local', 'Running']) void vscode.commands.executeCommand(`runner.refresh${view}`);
  sayBriefly(firstSentence(plain(inEditorWords(status, server))));
  return status.state !== 'offline';
}

/**
 * Looks for runners on this machine, where nothing answers at `runner.host`, and offers what it finds. Only a yes sets
 * the address. The result says whether one was given.
 */
async function offerFound(daemon: DaemonConnection): Promise<boolean> {
  const title = 'Looking for runners on this machine';
  const { runners } = await inStatusBar(title, () => daemon.request(discoverRequest, {}));
  const [only, ...others] = runners;
  if (!only) return false;
  const chosen = others.length === 0 ? await askFor(only) : await chooseOne(runners);
  if (!chosen) return false;
  // It was about the former runner.
  if (readSettings().api !== undefined) await updateSetting('api', undefined);
  await updateSetting('host', chosen.url);
  return true;
}

async function askFor(runner: FoundRunner): Promise<FoundRunner | undefined> {
  const yes = 'Use It';
  const answer = await vscode.window.showInformationMessage(plain(describeFound(runner)), yes);
  return answer === yes ? runner : undefined;
}

async function chooseOne(runners: readonly FoundRunner[]): Promise<FoundRunner | undefined> {
  const title = 'These runners answer on this machine. Use which one from now on?';
  const choices = runners.map((runner) => {
    const { product, url, models } = runner;
    const has = models === undefined ? 'wants a token' : count(models, 'model');
    const label = product === 'other' ? 'A runner' : productNames[product];
    return { label, description: `${url} · ${has}`, runner };
  });
  return (await vscode.window.showQuickPick(choices, { title, ignoreFocusOut: true }))?.runner;
}
