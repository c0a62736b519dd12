import * as vscode from 'vscode';
import { messageOf } from '../../../protocol/base/text.ts';
import { nameAfter, type Status, statusDidChange } from '../../../protocol/messages/status.ts';
import { productName } from '../../shared/words.ts';
import type { OfferedModels } from '../chat/offeredModels.ts';
import type { CompletionSwitch } from '../completion/completionSwitch.ts';
import { describeServers, versionOf } from '../convert/failure.ts';
import type { ServerFactsStore } from '../daemon/serverFacts.ts';
import { possible, serverNames } from '../daemon/servers.ts';
import type { EngineCommands } from '../engine/engineCommands.ts';
import type { Parts } from '../parts.ts';
import { chatModel, readSettings } from '../settings.ts';
import {
  chooseChatModel,
  inEditorWords,
  pullModel,
  type Remedy,
  remediesForOffline,
  setAddress,
  setToken,
  showDoctor,
  startModelHere,
} from '../ui/remedies.ts';
import { plain } from '../ui/safeText.ts';

const icons = {
  checking: '$(sync~spin)',
  online: '$(server-process)',
  busy: '$(loading~spin)',
  offline: '$(warning)',
} as const;

/**
 * Shows the state of the runner in the status bar, and that completion is snoozed. The tooltip has the address, and the
 * state of further servers. A click opens a menu.
 */
export function createStatusBar(
  { daemon, offered, facts }: Pick<Parts, 'daemon' | 'facts' | 'offered'>,
  completion: CompletionSwitch,
  engine: EngineCommands,
): vscode.Disposable {
  const item = vscode.window.createStatusBarItem('runner.status', vscode.StatusBarAlignment.Right, 50);
  item.name = 'Runner';
  item.command = 'runner.showMenu';
  let known: Status | undefined;
  let further: readonly string[] = [];
  const draw = () => {
    const status = known ?? unknown;
    const { state, kind } = status;
    const { wakesAt } = completion;
    const asleep = wakesAt === undefined ? '' : `Completion is snoozed until ${wakesAt}.`;
    item.text = `${icons[state]} Runner${state === 'offline' ? ': offline' : ''}${asleep && ' $(bell-slash)'}`;
    item.tooltip = tooltipOf(status, [...further, asleep]);
    item.accessibilityInformation = {
      label: `Runner, ${[inEditorWords(status), asleep, further.join(', ')].filter(Boolean).join(' ')}`,
      role: 'button',
    };
    item.backgroundColor =
      kind === 'ok' ? undefined : new vscode.ThemeColor('statusBarItem.warningBackground');
    item.show();
  };
  const show = (status: Status) => {
    known = status;
    draw();
  };
  draw();
  return vscode.Disposable.from(
    item,
    completion.onDidTurn(draw),
    ...[offered.onDidChange, facts.onDidChange].map((onDidChange) =>
      onDidChange(() => {
        further = furtherServers(offered.failures, facts);
        draw();
      }),
    ),
    daemon.onNotification(statusDidChange, show),
    daemon.onDidFailToStart((error) =>
      show({ state: 'offline', kind: 'error', message: `The daemon does not start. ${messageOf(error)}` }),
    ),
    vscode.commands.registerCommand(item.command, () =>
      openMenu(known, (entries) => possible(facts, entries), {
        engine: engineEntries(known, engine),
        completion: completion.entries(),
      }),
    ),
  );
}

/** Until the daemon has answered. */
const unknown: Status = { state: 'checking', kind: 'ok', message: 'Looking for the runner.' };

/** Only the sentence contains text from outside, so it has no links; the lines below it are ours. */
function tooltipOf(status: Status, lines: readonly string[]): vscode.MarkdownString {
  const { state } = status;
  const links = state === 'offline' ? [tryServers, ...remediesForOffline(status)] : [];
  const sentence = [inEditorWords(status), versionOf(status), nameAfter(status)].filter(Boolean).join(' ');
  const row = links.map(({ title, command }) => `[${title}](command:${command})`).join(' · ');
  const tooltip = new vscode.MarkdownString([plain(sentence), ...lines, row].filter(Boolean).join('\n\n'));
  tooltip.isTrusted = { enabledCommands: links.map(({ command }) => command) };
  return tooltip;
}

/** A line for each server other than the default one. */
function furtherServers(failures: OfferedModels['failures'], facts: ServerFactsStore): readonly string[] {
  const [, ...names] = serverNames(readSettings());
  const nameOf = (server: string) => productName(facts.product(server));
  return describeServers(names, failures, nameOf).map(plain);
}

const tryServers: Remedy = { title: 'Try Again', command: 'runner.tryAgain' };

/** A model is offered where no runner answers, and what was started can be stopped. */
function engineEntries(
  status: Status | undefined,
  { isRunning }: Pick<EngineCommands, 'isRunning'>,
): readonly Remedy[] {
  const start = { ...startModelHere, title: '$(play) Start a Model Here…' };
  return [
    ...(status?.state === 'offline' ? [start] : []),
    ...(isRunning ? [{ title: '$(debug-stop) Stop the Model Here', command: 'runner.stopModelHere' }] : []),
  ];
}

/** The title is the state of the runner, and the entries that fix it come first. */
async function openMenu(
  status: Status | undefined,
  offered: (entries: readonly Remedy[]) => readonly Remedy[],
  { engine, completion }: { readonly engine: readonly Remedy[]; readonly completion: readonly Remedy[] },
): Promise<void> {
  const isWell = status?.kind === 'ok';
  const entries: readonly Remedy[] = [
    ...(isWell ? [] : [{ ...tryServers, title: '$(refresh) Try Again' }]),
    ...engine,
    { ...setAddress(), title: '$(server) Set Address…' },
    ...(isWell ? [] : [{ ...setToken(), title: '$(key) Set Token…' }]),
    {
      ...chooseChatModel,
      title: `$(comment-discussion) Chat: ${chatModel() || 'the model in the picker'}…`,
    },
    ...completion,
    { ...pullModel, title: '$(cloud-download) Pull a Model…' },
    { ...showDoctor, title: '$(pulse) Doctor' },
    { title: '$(output) Show Log', command: 'runner.showLog' },
    {
      title: '$(gear) Settings',
      command: 'workbench.action.openSettings',
      arguments: ['@ext:model-runner.runner'],
    },
  ];
  const items = offered(entries).map((entry) => ({ label: entry.title, entry }));
  const title = inEditorWords(status ?? unknown);
  const chosen = await vscode.window.showQuickPick(items, { title });
  if (!chosen) return;
  const { command, arguments: given = [] } = chosen.entry;
  await vscode.commands.executeCommand(command, ...given);
}
