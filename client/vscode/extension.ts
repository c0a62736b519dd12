import * as vscode from 'vscode';
import { stateFolder } from '../../protocol/base/userFolders.ts';
import { statusRequest } from '../../protocol/messages/status.ts';
import { systemClock } from '../shared/clock.ts';
import { registerAddressCommands } from './address/addressCommands.ts';
import { createAnsweringModels } from './chat/answeringModel.ts';
import { registerAskCommands } from './chat/askCommands.ts';
import { createCancelWarning } from './chat/cancelWarning.ts';
import { registerChatModelCommands } from './chat/chooseChatModel.ts';
import { createCodebaseSearch } from './chat/codebase.ts';
import { createConsent, withConsent } from './chat/consent.ts';
import { registerContextLength, registerEditorChat, userSettings } from './chat/editorChat.ts';
import { createKeptChanges } from './chat/editorChatSettings.ts';
import { createOrder } from './chat/editorTasks.ts';
import { createFindPrompt } from './chat/keptPrompts.ts';
import { createOfferedIds } from './chat/offeredIds.ts';
import { OfferedModels } from './chat/offeredModels.ts';
import { registerParticipant } from './chat/participant.ts';
import { registerProvider } from './chat/provider.ts';
import { createRounds } from './chat/rounds.ts';
import { changeThinking } from './chat/thinking.ts';
import { ThinkingPage } from './chat/thinkingPage.ts';
import { registerUsePrompt } from './chat/usePrompt.ts';
import { vendor } from './chat/whoAnswers.ts';
import { registerChooseCompletionModel } from './completion/chooseModel.ts';
import { createCompletionSwitch } from './completion/completionSwitch.ts';
import { registerInlineCompletion } from './completion/inlineCompletion.ts';
import { registerTokenCommands } from './daemon/accessTokens.ts';
import { DaemonConnection } from './daemon/connection.ts';
import { possible } from './daemon/knownServers.ts';
import { createRunnerChanges } from './daemon/runnerChanges.ts';
import { createServerFacts } from './daemon/serverFacts.ts';
import { createTokenStore } from './daemon/tokenStore.ts';
import { registerDocsServer } from './documents/docsServer.ts';
import { registerDocsTokenCommands } from './documents/docsTokenCommands.ts';
import { createDocsTokens } from './documents/docsTokens.ts';
import { registerEditCommand } from './edit/editCommand.ts';
import { registerEngineCommands } from './engine/engineCommands.ts';
import { registerImportFromContinue } from './imports/importFromContinue.ts';
import { registerModelfileCommands } from './modelfile/modelfileCommands.ts';
import { createModelfileView } from './modelfile/modelfileView.ts';
import { registerModelCommands } from './models/modelCommands.ts';
import { createInterruptedPulls, createRunningPulls } from './models/pulls.ts';
import { readSettings } from './settings.ts';
import { registerDoctor } from './status/doctor.ts';
import { retryOfflineServers } from './status/offlineRetry.ts';
import { followLogs } from './status/serverLog.ts';
import { createStatusBar } from './status/statusBar.ts';
import { createErrorReporter } from './ui/errorReporter.ts';
import { createSidebar } from './views/sidebar.ts';
import { registerWalkthrough } from './walkthrough/walkthrough.ts';

/** The parts of the extension, in the order in which they start. Nothing here waits for the daemon. */
export function activate(context: vscode.ExtensionContext): void {
  const { subscriptions, extensionUri, globalState } = context;
  const log = vscode.window.createOutputChannel('Runner', { log: true });
  const tokens = createTokenStore(context.secrets);
  const daemon = new DaemonConnection({
    path: vscode.Uri.joinPath(extensionUri, 'dist', 'runnerd.cjs').fsPath,
    settings: readSettings,
    tokens,
    log,
    cacheDir: context.globalStorageUri.fsPath,
    clock: systemClock,
  });
  const changes = createRunnerChanges(daemon);
  const facts = createServerFacts(daemon, changes);
  const reporter = createErrorReporter({
    log,
    offered: (remedies) => possible(facts, remedies),
    window: vscode.window,
    commands: vscode.commands,
  });
  const failing = daemon.onDidFailToStart((error) =>
    reporter.report(error, { during: 'Starting the daemon', showToUser: true }),
  );
  const consent = createConsent(globalState);
  const ids = createOfferedIds(globalState, stateFolder(process.env));
  const offered = new OfferedModels({ daemon, memory: globalState, ids, consent, log });
  const rounds = createRounds(daemon);
  const { ask, askBehind } = createOrder(withConsent(rounds, offered, consent));
  subscriptions.push(
    log,
    daemon,
    changes,
    facts,
    failing,
    consent,
    offered,
    rounds,
    registerProvider({
      offered,
      ask,
      askBehind,
      reporter,
      onWillAnswerChat: createCancelWarning({
        version: vscode.version,
        memory: globalState,
        show: (sentence) => void vscode.window.showInformationMessage(sentence),
      }),
    }),
  );
  // The editor asks a provider only once somebody has asked for its models.
  vscode.lm.selectChatModels({ vendor }).then(undefined, (error) => log.debug(`No models yet: ${error}`));
  const models = createAnsweringModels(daemon, offered, consent, globalState);
  const icon = new vscode.ThemeIcon('server-process');
  const thoughts = new ThinkingPage();
  subscriptions.push(
    thoughts,
    registerParticipant({
      offered,
      models,
      ask,
      reporter,
      facts,
      icon,
      findPrompt: createFindPrompt(daemon),
      searchCodebase: createCodebaseSearch(daemon),
      thoughts,
      status: () => daemon.request(statusRequest, {}),
    }),
  );
  const completion = createCompletionSwitch(globalState, systemClock);
  subscriptions.push(completion, registerInlineCompletion(daemon, log, completion.isOn));
  const keptChanges = createKeptChanges(globalState, userSettings);
  const pulls = createRunningPulls(systemClock.after);
  const sidebar = createSidebar({ daemon, facts, memory: globalState, clock: systemClock, pulls });
  subscriptions.push(
    sidebar,
    registerModelCommands({
      daemon,
      facts,
      changes,
      reporter,
      pulls,
      interrupted: createInterruptedPulls(context.workspaceState),
      sidebar,
      async setThinking({ model, server }) {
        const known = await offered.lookUp(model, server);
        const sentence = known && (await changeThinking(known));
        if (sentence) vscode.window.setStatusBarMessage(sentence, 5_000);
      },
    }),
  );
  subscriptions.push(
    createModelfileView(globalState, facts),
    registerModelfileCommands({ daemon, facts, reporter, sidebar }),
  );
  subscriptions.push(followLogs(daemon, log));
  const engine = registerEngineCommands(daemon, reporter);
  subscriptions.push(
    registerTokenCommands(tokens, readSettings),
    registerImportFromContinue(tokens, reporter),
    registerAddressCommands(daemon, reporter),
    registerChooseCompletionModel(daemon, reporter),
    registerEditorChat({ offered, kept: keptChanges, reporter }),
    registerChatModelCommands(daemon, models, reporter),
    registerAskCommands({ models, ask, reporter, offered }),
    registerEditCommand({ daemon, models, offered, reporter }),
    registerUsePrompt(daemon, reporter),
    registerContextLength(offered),
    registerWalkthrough(context.extension.id, { daemon, offered }),
    engine,
    registerDoctor(daemon, changes, { version: String(context.extension.packageJSON.version), facts }),
    vscode.commands.registerCommand('runner.showLog', () => log.show()),
    createStatusBar(daemon, completion, { offered, facts, engine }),
    retryOfflineServers({ daemon, offered, clock: systemClock, window: vscode.window }),
  );
  const docsTokens = createDocsTokens(context.secrets);
  subscriptions.push(registerDocsServer(docsTokens, reporter), registerDocsTokenCommands(docsTokens));
}
