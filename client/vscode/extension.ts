import * as vscode from 'vscode';
import { statusRequest } from '../../protocol/messages/status.ts';
import { registerAddressCommands } from './address/addressCommands.ts';
import { registerAskCommands } from './chat/askCommands.ts';
import { createChatModels, registerChatModelCommands } from './chat/chatModel.ts';
import { createConsent, withConsent } from './chat/consent.ts';
import { registerContextLength } from './chat/contextLength.ts';
import { registerEnableChat } from './chat/enableChat.ts';
import { createOfferedModels } from './chat/offeredModels.ts';
import { registerParticipant } from './chat/participant.ts';
import { registerProvider, vendor } from './chat/provider.ts';
import { createTurns } from './chat/turn.ts';
import { registerChooseCompletionModel } from './completion/chooseModel.ts';
import { createCompletionSwitch } from './completion/completionSwitch.ts';
import { registerInlineCompletion } from './completion/inlineCompletion.ts';
import { connectDaemon } from './daemon/connection.ts';
import { createTokenStore } from './daemon/secretStore.ts';
import { registerTokenCommands } from './daemon/tokenCommands.ts';
import { registerDoctor } from './doctor.ts';
import { registerDocsServer } from './documents/docsServer.ts';
import { registerDocsTokenCommands } from './documents/docsTokenCommands.ts';
import { createDocsTokens } from './documents/docsTokens.ts';
import { createErrorReporter } from './errorReporter.ts';
import { lookAgain } from './lookAgain.ts';
import { registerModelfileCommands } from './modelfile/modelfileCommands.ts';
import { createModelfileView } from './modelfile/modelfileView.ts';
import { createInterruptedPulls } from './models/interruptedPulls.ts';
import { registerModelCommands } from './models/modelCommands.ts';
import { createRunningPulls } from './models/runningPulls.ts';
import { followLogs } from './serverLog.ts';
import { readSettings } from './settings.ts';
import { createStatusBar } from './statusBar.ts';
import { registerStatusMenu } from './statusMenu.ts';
import { createSidebar } from './views/sidebar.ts';
import { registerWalkthrough } from './walkthrough/walkthrough.ts';

/** The parts of the extension, in the order in which they start. Nothing here waits for the daemon. */
export function activate(context: vscode.ExtensionContext): void {
  const { subscriptions, extensionUri, globalState } = context;
  const log = vscode.window.createOutputChannel('Runner', { log: true });
  const reporter = createErrorReporter(log);
  const tokens = createTokenStore(context.secrets);
  const daemon = connectDaemon({
    path: vscode.Uri.joinPath(extensionUri, 'dist', 'runnerd.cjs').fsPath,
    settings: readSettings,
    tokens,
    log,
    cacheDir: context.globalStorageUri.fsPath,
  });
  const failing = daemon.onDidFailToStart((error) =>
    reporter.report(error, { during: 'Starting the daemon', showToUser: true }),
  );
  const consent = createConsent(globalState);
  const offered = createOfferedModels({ daemon, memory: globalState, consent, log });
  const turns = createTurns(daemon);
  const ask = withConsent(turns, offered.lookUp, consent);
  subscriptions.push(log, daemon, failing, consent, offered, turns, registerProvider(offered, ask));
  // The editor asks a provider only once somebody has asked for its models.
  vscode.lm.selectChatModels({ vendor }).then(undefined, (error) => log.debug(`No models yet: ${error}`));
  const models = createChatModels(daemon, offered, consent);
  const icon = new vscode.ThemeIcon('server-process');
  subscriptions.push(
    registerParticipant({
      offered,
      models,
      ask,
      reporter,
      icon,
      status: () => daemon.request(statusRequest, {}),
    }),
  );
  const completion = createCompletionSwitch(globalState);
  subscriptions.push(completion, registerInlineCompletion(daemon, log, completion.isOn));
  const pulls = createRunningPulls((milliseconds, work) => void setTimeout(work, milliseconds));
  const sidebar = createSidebar(daemon, globalState, pulls);
  subscriptions.push(
    sidebar,
    registerModelCommands({
      daemon,
      reporter,
      pulls,
      interrupted: createInterruptedPulls(context.workspaceState),
      sidebar,
    }),
  );
  subscriptions.push(
    createModelfileView(globalState),
    registerModelfileCommands({ daemon, reporter, sidebar }),
  );
  subscriptions.push(followLogs(daemon, log));
  subscriptions.push(
    registerTokenCommands(tokens, readSettings),
    registerAddressCommands(daemon, reporter),
    registerChooseCompletionModel(daemon, reporter),
    registerEnableChat(reporter),
    registerChatModelCommands(daemon, models, reporter),
    registerAskCommands({ models, ask, reporter }),
    registerContextLength(),
    registerWalkthrough(context.extension.id, { daemon, offered }),
    registerDoctor(daemon, String(context.extension.packageJSON.version)),
    vscode.commands.registerCommand('runner.showLog', () => log.show()),
    createStatusBar(daemon, completion, offered),
    registerStatusMenu(daemon, completion),
    lookAgain(daemon, offered),
  );
  const docsTokens = createDocsTokens(context.secrets);
  subscriptions.push(registerDocsServer(docsTokens, reporter), registerDocsTokenCommands(docsTokens));
}
