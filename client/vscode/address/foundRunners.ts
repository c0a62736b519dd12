import * as vscode from 'vscode';
import { describeFound, discoverRequest, type FoundRunner } from '../../../protocol/messages/status.ts';
import type { DaemonConnection } from '../daemon/connection.ts';
import { readSettings, updateSetting } from '../settings.ts';
import { plain } from '../ui/safeText.ts';
import { foundChoices } from './foundChoices.ts';

/**
 * Looks for runners on this machine, where nothing answers at `runner.host`, and offers what it finds. Only a yes sets
 * the address. The result says whether one was given.
 */
export async function offerFound(daemon: DaemonConnection): Promise<boolean> {
  const location = vscode.ProgressLocation.Window;
  const title = 'Looking for runners on this machine';
  const { runners } = await vscode.window.withProgress({ location, title }, () =>
    daemon.request(discoverRequest, {}),
  );
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
  return (await vscode.window.showQuickPick(foundChoices(runners), { title, ignoreFocusOut: true }))?.runner;
}
