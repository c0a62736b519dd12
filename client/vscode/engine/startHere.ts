import * as vscode from 'vscode';
import {
  type EngineOffers,
  type EngineStatus,
  type EngineWay,
  engineOffersRequest,
} from '../../../protocol/messages/engine.ts';
import type { DaemonConnection } from '../daemon/connection.ts';
import { ollamaHost } from '../daemon/servers.ts';
import { runWork } from '../models/work.ts';
import { readSettings, updateSetting } from '../settings.ts';
import { plain } from '../ui/safeText.ts';
import { ollamaPage, questionBefore, type WayChoice, wayChoices, whyNothing } from './engineWords.ts';
import { fetchAndStart, makeUsual, refuseBesideEnvironment } from './startedWay.ts';

/**
 * Offers what there is on this machine to someone without a runner, and starts what is chosen. Whatever is fetched for
 * that was agreed to. The result says whether a model server runs that Runner uses.
 */
export async function startModelHere(daemon: DaemonConnection): Promise<boolean> {
  const location = vscode.ProgressLocation.Window;
  const title = 'Looking at what can be started here';
  const offers = await vscode.window.withProgress({ location, title }, () =>
    daemon.request(engineOffersRequest, {}),
  );
  const way = await chooseWay(offers);
  if (!way) return false;
  const { host } = readSettings();
  refuseBesideEnvironment(way, ollamaHost());
  if (!(await agrees(way, host))) return false;
  const started = await fetchAndStart(way, (title, request) => runWork(daemon, title, request));
  if (!started) return false;
  await makeUsual(daemon, readSettings, updateSetting);
  void offerChat(started);
  return true;
}

async function chooseWay(offers: EngineOffers): Promise<EngineWay | undefined> {
  const icon = (choice: WayChoice) => new vscode.ThemeIcon(choice.way ? 'play' : 'link-external');
  const items = wayChoices(offers).map((choice) => ({ ...choice, iconPath: icon(choice) }));
  const problem = whyNothing(offers);
  // A list would cut it.
  if (problem !== undefined) void vscode.window.showWarningMessage(plain(problem));
  const chosen = await vscode.window.showQuickPick(items, {
    title: 'Start a Model on This Machine',
    placeHolder: 'Nothing is fetched or started before you choose.',
    ignoreFocusOut: true,
  });
  if (chosen && !chosen.way) await vscode.env.openExternal(vscode.Uri.parse(ollamaPage));
  return chosen?.way;
}

async function agrees(way: EngineWay, host: string | undefined): Promise<boolean> {
  const question = questionBefore(way, host);
  if (!question) return true;
  const { message, detail, yes } = question;
  return (await vscode.window.showInformationMessage(message, { modal: true, detail }, yes)) === yes;
}

async function offerChat({ message }: EngineStatus): Promise<void> {
  const [ask, keep] = ['Ask @runner', 'Keep It Running'];
  const isKept = readSettings().engine?.keepRunning === true;
  const life = isKept ? '' : ' It ends with the last program that uses it.';
  const buttons = isKept ? [ask] : [ask, keep];
  const chosen = await vscode.window.showInformationMessage(plain(message + life), ...buttons);
  if (chosen === keep) await updateSetting('engine.keepRunning', true);
  if (chosen !== ask) return;
  const query = { query: '@runner ', isPartialQuery: true };
  await vscode.commands.executeCommand('workbench.action.chat.open', query);
}
