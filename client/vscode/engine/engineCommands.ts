import * as vscode from 'vscode';
import {
  type EngineStatus,
  engineRemoveRequest,
  engineStatusRequest,
  engineStopRequest,
} from '../../../protocol/messages/engine.ts';
import type { DaemonConnection } from '../daemon/connection.ts';
import { followStatus } from '../daemon/runnerChanges.ts';
import type { ErrorReporter } from '../ui/errorReporter.ts';
import { startModelHere } from './startHere.ts';

/** Whether something runs that Runner has started. */
export type EngineCommands = ReturnType<typeof registerEngineCommands>;

/** The commands for a model on this machine. Those that end something are offered only while there is something. */
export function registerEngineCommands(daemon: DaemonConnection, reporter: ErrorReporter) {
  let isRunning = false;
  const look = async () => {
    const status = await daemon.request(engineStatusRequest, {});
    isRunning = status.state === 'running';
    setContext('hasStarted', isRunning);
    setContext('hasFetched', isFetched(status));
  };
  // A daemon that does not answer is reported elsewhere.
  const lookAgain = () => void look().catch(() => undefined);
  /** Also if it fails: a part may be there. */
  const commands: Readonly<Record<string, () => Promise<unknown>>> = {
    'runner.startModelHere': () => startModelHere(daemon),
    'runner.stopModelHere': () => stop(daemon),
    'runner.removeFetched': () => remove(daemon),
  };
  const subscriptions = vscode.Disposable.from(
    daemon.onDidConnect(lookAgain),
    followStatus(daemon, { onDidTurn: lookAgain, onDidAnswer: () => undefined }),
    ...Object.entries(commands).map(([id, run]) =>
      reporter.registerCommand(id, () => run().finally(lookAgain)),
    ),
  );
  return {
    get isRunning() {
      return isRunning;
    },
    dispose: () => subscriptions.dispose(),
  };
}

function isFetched({ isInstalled, sample }: EngineStatus): boolean {
  return isInstalled || sample !== undefined;
}

function setContext(key: 'hasStarted' | 'hasFetched', value: boolean): void {
  void vscode.commands.executeCommand('setContext', `runner.${key}`, value);
}

async function stop(daemon: DaemonConnection): Promise<void> {
  const location = vscode.ProgressLocation.Window;
  const { wasRunning } = await vscode.window.withProgress(
    { location, title: 'Stopping the model here' },
    () => daemon.request(engineStopRequest, {}),
  );
  say(wasRunning ? 'It is stopped.' : 'Nothing that Runner started was running.');
}

async function remove(daemon: DaemonConnection): Promise<void> {
  const { state } = await daemon.request(engineStatusRequest, {});
  const detail = `The engine and the small model are deleted.${state === 'running' ? ' What runs is stopped first.' : ''} To use them again, they are downloaded again.`;
  const yes = 'Delete';
  const question = 'Delete what Runner has fetched to run a model here?';
  if ((await vscode.window.showWarningMessage(question, { modal: true, detail }, yes)) !== yes) return;
  const { wasThere } = await daemon.request(engineRemoveRequest, {});
  say(wasThere ? 'The engine and the small model are deleted.' : 'Nothing was there.');
}

function say(sentence: string): void {
  void vscode.window.showInformationMessage(sentence);
}
