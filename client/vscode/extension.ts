import * as vscode from 'vscode';
import { stateFolder } from '../../protocol/base/platform/folders.ts';
import { systemClock } from '../shared/clock.ts';
import { registerAddressCommands } from './address/addressCommands.ts';
import { AnsweringModels, registerChatModelCommands } from './chat/answeringModel.ts';
import { ThinkingPage } from './chat/answerWriter.ts';
import { registerAskCommands } from './chat/askCommands.ts';
import { createConsent, withConsent } from './chat/consent.ts';
import { registerContextLength, registerEditorChat } from './chat/editorChat.ts';
import { builtInChat } from './chat/editorChatSettings.ts';
import { usePrompt } from './chat/keptPrompts.ts';
import { OfferedModels } from './chat/offeredModels.ts';
import { registerParticipant } from './chat/participant.ts';
import { createOfferedIds, vendor } from './chat/picker.ts';
import { registerProvider } from './chat/provider.ts';
import { createOrder, createRounds } from './chat/rounds.ts';
import { changeThinking } from './chat/thinking.ts';
import { CompletionSwitch, registerChooseCompletionModel } from './completion/completionSwitch.ts';
import { registerInlineCompletion } from './completion/inlineCompletion.ts';
import { registerTokenCommands } from './daemon/accessTokens.ts';
import { DaemonConnection } from './daemon/connection.ts';
import { createRunnerChanges, createServerFacts } from './daemon/serverFacts.ts';
import { possible } from './daemon/servers.ts';
import { createTokenStore, type EditorTokenStore } from './daemon/tokenStore.ts';
import { registerDocsServer, registerDocsTokenCommands } from './documents/docsServer.ts';
import { createDocsTokens } from './documents/docsTokens.ts';
import { registerEditCommand } from './edit/editCommand.ts';
import { registerEngineCommands } from './engine/engineCommands.ts';
import { importFromContinue } from './imports/importFromContinue.ts';
import { registerModelfileCommands } from './modelfile/modelfileCommands.ts';
import { createModelfileView } from './modelfile/modelfileView.ts';
import { registerModelCommands } from './models/modelCommands.ts';
import type { ModelRow } from './models/modelRow.ts';
import { createInterruptedPulls, createRunningPulls } from './models/pulls.ts';
import { sayBriefly } from './models/work.ts';
import type { Parts } from './parts.ts';
import { readSettings } from './settings.ts';
import { registerDoctor } from './status/doctor.ts';
import { retryOfflineServers } from './status/offlineRetry.ts';
import { followLogs } from './status/serverLog.ts';
import { createStatusBar } from './status/statusBar.ts';
import { createErrorReporter } from './ui/errorReporter.ts';
import { createSidebar } from './views/sidebar.ts';
import { registerWalkthrough } from './walkthrough/walkthrough.ts';

/** Starts the parts of the extension, in the order of the specification. Nothing here waits for the daemon. */
export function activate(context: vscode.ExtensionContext): void {
  const { subscriptions, extension, secrets } = context;
  const tokens = createTokenStore(secrets);
  const parts = createParts(context, tokens);
  const { daemon, log, memory, reporter, offered, facts, models } = parts;
  subscriptions.push(registerProvider(parts));
  // The editor asks a provider only once somebody has asked for its models.
  vscode.lm.selectChatModels({ vendor }).then(undefined, (error) => log.debug(`No models yet: ${error}`));
  subscriptions.push(registerParticipant(parts));
  const completion = new CompletionSwitch(parts);
  subscriptions.push(
    completion,
    registerInlineCompletion(daemon, log, (language) => completion.isOn(language)),
  );
  const sidebar = createSidebar(parts);
  const setThinking = async ({ model, server }: ModelRow) => {
    const known = await offered.lookUp(model, server);
    const sentence = known && (await changeThinking(known));
    if (sentence) sayBriefly(sentence);
  };
  subscriptions.push(sidebar, registerModelCommands({ ...parts, sidebar }, setThinking));
  subscriptions.push(createModelfileView(memory, facts), registerModelfileCommands({ ...parts, sidebar }));
  subscriptions.push(followLogs(daemon, log));
  const engine = registerEngineCommands(daemon, reporter);
  subscriptions.push(
    registerTokenCommands(tokens, readSettings),
    reporter.registerCommand(
      'runner.importFromContinue',
      () => importFromContinue(tokens),
      'Importing from Continue',
    ),
    registerAddressCommands(daemon, reporter),
    registerChooseCompletionModel(daemon, reporter),
    registerEditorChat(parts),
    registerChatModelCommands(daemon, models, reporter),
    registerAskCommands(parts),
    registerEditCommand(parts),
    reporter.registerCommand('runner.usePrompt', () => usePrompt(daemon), 'Listing the prompts'),
    registerContextLength(offered),
    registerWalkthrough(extension.id, parts, builtInChat),
    engine,
    registerDoctor(parts, String(extension.packageJSON.version)),
    vscode.commands.registerCommand('runner.showLog', () => log.show()),
    createStatusBar(parts, completion, engine),
    retryOfflineServers({ ...parts, window: vscode.window }),
  );
  const docsTokens = createDocsTokens(secrets);
  subscriptions.push(registerDocsServer(docsTokens, reporter), registerDocsTokenCommands(docsTokens));
}

/** What several features share. The views come later. */
function createParts(context: vscode.ExtensionContext, tokens: EditorTokenStore): Omit<Parts, 'sidebar'> {
  const { subscriptions, extensionUri, globalStorageUri, globalState: memory, workspaceState } = context;
  const clock = systemClock;
  const log = vscode.window.createOutputChannel('Runner', { log: true });
  const daemon = new DaemonConnection({
    path: vscode.Uri.joinPath(extensionUri, 'dist', 'runnerd.cjs').fsPath,
    settings: readSettings,
    tokens,
    log,
    cacheDir: globalStorageUri.fsPath,
    clock,
  });
  const changes = createRunnerChanges(daemon);
  const facts = createServerFacts(daemon, changes);
  const reporter = createErrorReporter(log, (remedies) => possible(facts, remedies));
  const failing = daemon.onDidFailToStart((error) =>
    reporter.report(error, { during: 'Starting the daemon', showToUser: true }),
  );
  const consent = createConsent(memory);
  const ids = createOfferedIds(memory, stateFolder(process.env));
  const offered = new OfferedModels({ daemon, memory, ids, consent, log });
  const rounds = createRounds(daemon);
  const thoughts = new ThinkingPage();
  subscriptions.push(log, daemon, changes, facts, failing, consent, offered, rounds, thoughts);
  return {
    clock,
    daemon,
    log,
    memory,
    changes,
    facts,
    reporter,
    offered,
    thoughts,
    ...createOrder(withConsent(rounds, offered, consent)),
    models: new AnsweringModels(daemon, offered, consent, memory),
    pulls: createRunningPulls(clock.after),
    interrupted: createInterruptedPulls(workspaceState),
  };
}
