import * as vscode from 'vscode';
import { documentSchemes } from '../completion/documentSync.ts';
import type { ErrorReporter } from '../errorReporter.ts';
import type { ChatModels } from './chatModel.ts';
import { commitPrompt, type PromptName, prompts, toCommitMessage } from './prompts.ts';
import type { AskForTurn } from './turn.ts';

export interface AskCommandsParts {
  readonly models: ChatModels;
  readonly ask: AskForTurn;
  readonly reporter: ErrorReporter;
}

/** "Ask Runner" in the editor's menu, on problems, and for the message of a commit. */
export function registerAskCommands({ models, ask, reporter }: AskCommandsParts): vscode.Disposable {
  const names = Object.keys(prompts) as PromptName[];
  return vscode.Disposable.from(
    ...names.map((name) =>
      vscode.commands.registerCommand(`runner.ask.${name}`, () =>
        askAboutSelection(`@runner /${name} `, false),
      ),
    ),
    vscode.commands.registerCommand('runner.ask', () => askAboutSelection('@runner ', true)),
    vscode.commands.registerCommand('runner.ask.problem', openChat),
    vscode.languages.registerCodeActionsProvider(
      documentSchemes.map((scheme) => ({ scheme })),
      { provideCodeActions: toActions },
      { providedCodeActionKinds: [vscode.CodeActionKind.QuickFix] },
    ),
    vscode.commands.registerCommand(
      'runner.writeCommitMessage',
      async (provider?: { readonly rootUri?: vscode.Uri }) => {
        try {
          await writeCommitMessage({ models, ask }, provider?.rootUri);
        } catch (error) {
          reporter.report(error, { during: 'Writing the commit message', showToUser: true });
        }
      },
    ),
  );
}

interface AskedQuestion {
  readonly query: string;
  readonly isPartialQuery: boolean;
  readonly uri?: vscode.Uri;
  readonly range?: vscode.Range;
}

/** With the selected lines attached, or the whole file where nothing is selected. */
function askAboutSelection(query: string, isPartialQuery: boolean): Promise<void> {
  const { document, selection } = vscode.window.activeTextEditor ?? {};
  const hasRange = selection !== undefined && !selection.isEmpty;
  return openChat({
    query,
    isPartialQuery,
    ...(document ? { uri: document.uri } : {}),
    ...(hasRange ? { range: selection } : {}),
  });
}

async function openChat({ query, isPartialQuery, uri, range }: AskedQuestion): Promise<void> {
  // The editor's own commands count lines and columns from 1.
  const place = range && {
    startLineNumber: range.start.line + 1,
    startColumn: range.start.character + 1,
    endLineNumber: range.end.line + 1,
    endColumn: range.end.character + 1,
  };
  const attachFiles = uri === undefined ? [] : [place === undefined ? uri : { uri, range: place }];
  await vscode.commands.executeCommand('workbench.action.chat.open', { query, isPartialQuery, attachFiles });
}

/** A problem in its lines: to be fixed, or to be explained. */
function toActions(
  { uri }: vscode.TextDocument,
  _: vscode.Range,
  { diagnostics }: vscode.CodeActionContext,
): vscode.CodeAction[] {
  const [first] = diagnostics;
  if (!first) return [];
  const about = diagnostics.map(({ message }) => message).join('\n');
  const whole = diagnostics.reduce((range, one) => range.union(one.range), first.range);
  const range = new vscode.Range(Math.max(0, whole.start.line - 3), 0, whole.end.line + 4, 0);
  return (['fix', 'explain'] as const).map((name) => {
    const title = name === 'fix' ? 'Fix with Runner' : 'Explain with Runner';
    const action = new vscode.CodeAction(title, vscode.CodeActionKind.QuickFix);
    const asked: AskedQuestion = { query: `@runner /${name} ${about}`, isPartialQuery: false, uri, range };
    action.command = { command: 'runner.ask.problem', title, arguments: [asked] };
    action.diagnostics = [...diagnostics];
    return action;
  });
}

/** Of the editor's extension for git what is used here. */
interface Repository {
  readonly rootUri: vscode.Uri;
  readonly inputBox: { value: string };
  /** With true what is staged, else what is not. */
  diff(cached: boolean): Promise<string>;
}

async function writeCommitMessage(
  { models, ask }: Pick<AskCommandsParts, 'models' | 'ask'>,
  root: vscode.Uri | undefined,
): Promise<void> {
  const repository = await findRepository(root);
  const changes = repository && ((await repository.diff(true)) || (await repository.diff(false)));
  if (!repository || !changes)
    return void vscode.window.showInformationMessage('There is no change to write a message for.');
  const [picked] = await vscode.lm.selectChatModels({ vendor: 'runner' });
  const { model } = picked ? await models.answering(picked) : {};
  if (!model) throw new Error('There is no model that can chat. Start your runner, or pull a model.');
  const title = `${model.name} writes the commit message`;
  const location = vscode.ProgressLocation.Notification;
  await vscode.window.withProgress({ location, title, cancellable: true }, async (_, token) => {
    let answer = '';
    const params = {
      model: model.name,
      server: model.server,
      messages: [{ role: 'user', content: commitPrompt(changes) }],
    } as const;
    await ask(
      params,
      (delta) => {
        if (delta.kind !== 'text') return;
        answer += delta.text;
        repository.inputBox.value = toCommitMessage(answer);
      },
      token,
    ).catch((error) => {
      if (!token.isCancellationRequested) throw error;
    });
  });
}

/** The one that the button belongs to, or the only one. */
async function findRepository(root: vscode.Uri | undefined): Promise<Repository | undefined> {
  const git = vscode.extensions.getExtension('vscode.git');
  const api: unknown = git && ((await git.activate()) ?? git.exports);
  const getApi: unknown = typeof api === 'object' && api !== null ? Reflect.get(api, 'getAPI') : undefined;
  if (typeof getApi !== 'function') return undefined;
  const { repositories } = getApi.call(api, 1) as { readonly repositories: readonly Repository[] };
  return repositories.find(({ rootUri }) => rootUri.toString() === root?.toString()) ?? repositories[0];
}
