import * as vscode from 'vscode';
import type { ChatDelta } from '../../../protocol/messages/chat.ts';
import { documentSchemes } from '../daemon/startedDaemon.ts';
import type { Parts } from '../parts.ts';
import { plain } from '../ui/safeText.ts';
import { changesIn, commitPrompt, type Repository, readNewFile, writeInto } from './commitMessage.ts';
import { type PromptName, prompts } from './prompt.ts';
import { thinkFor } from './thinking.ts';

type AskParts = Pick<Parts, 'ask' | 'models' | 'offered' | 'reporter'>;

/** "Ask Runner" in the editor's menu, on problems, and for the message of a commit. */
export function registerAskCommands(parts: AskParts): vscode.Disposable {
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
    parts.reporter.registerCommand(
      'runner.writeCommitMessage',
      (provider) =>
        writeCommitMessage(parts, (provider as { readonly rootUri?: vscode.Uri } | undefined)?.rootUri),
      'Writing the commit message',
    ),
  );
}

interface ChatQuery {
  readonly query: string;
  readonly isPartialQuery: boolean;
  readonly uri?: vscode.Uri;
  readonly range?: vscode.Range;
}

/** Attaches the selected lines, or the whole file if nothing is selected. */
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

async function openChat({ query, isPartialQuery, uri, range }: ChatQuery): Promise<void> {
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

/** Quick fixes that ask to fix or explain the problems at the cursor, with the lines around them. */
function toActions(
  document: vscode.TextDocument,
  _: vscode.Range,
  { diagnostics }: vscode.CodeActionContext,
): vscode.CodeAction[] {
  const [first] = diagnostics;
  if (!first) return [];
  const about = diagnostics.map(({ message }) => message).join('\n');
  const whole = diagnostics.reduce((range, one) => range.union(one.range), first.range);
  const end = whole.end.line + 3;
  const around = new vscode.Range(Math.max(0, whole.start.line - 3), 0, end, Number.MAX_SAFE_INTEGER);
  const { uri } = document;
  const range = document.validateRange(around);
  const asking = (['fix', 'explain'] as const).map((name) => {
    const title = name === 'fix' ? 'Fix with Runner' : 'Explain with Runner';
    const action = new vscode.CodeAction(title, vscode.CodeActionKind.QuickFix);
    const asked: ChatQuery = { query: `@runner /${name} ${about}`, isPartialQuery: false, uri, range };
    action.command = { command: 'runner.ask.problem', title, arguments: [asked] };
    action.diagnostics = [...diagnostics];
    return action;
  });
  const isModelfile = document.languageId === 'modelfile';
  return [...(isModelfile ? diagnostics.flatMap((one) => toCorrection(uri, one) ?? []) : []), ...asking];
}

/** For a mistyped word of a Modelfile, whose problem says what was meant. */
function toCorrection(uri: vscode.Uri, problem: vscode.Diagnostic): vscode.CodeAction | undefined {
  const [, meant] = /Did you mean (\w+)\?$/.exec(problem.message) ?? [];
  if (meant === undefined) return undefined;
  const action = new vscode.CodeAction(`Change to ${meant}`, vscode.CodeActionKind.QuickFix);
  action.edit = new vscode.WorkspaceEdit();
  action.edit.replace(uri, problem.range, meant);
  action.diagnostics = [problem];
  action.isPreferred = true;
  return action;
}

async function writeCommitMessage(
  { models, ask, offered }: AskParts,
  root: vscode.Uri | undefined,
): Promise<void> {
  const repositories = await openRepositories();
  const own = root && repositories.find(({ rootUri }) => rootUri.toString() === root.toString());
  const repository = own ?? (repositories.length > 1 ? await pickRepository(repositories) : repositories[0]);
  if (!repository && repositories.length > 0) return;
  const readFile = (uri: vscode.Uri) => readNewFile(vscode.workspace.fs, uri);
  const attachments = repository ? await changesIn(repository, readFile) : [];
  if (!repository || attachments.length === 0)
    return void vscode.window.showInformationMessage('There is no change to write a message for.');
  const { model } = await models.answering();
  if (!model) throw new Error('There is no model that can chat. Start your runner, or pull a model.');
  const title = `${model.name} writes the commit message`;
  const location = vscode.ProgressLocation.Notification;
  const think = thinkFor(model.name, offered.find(model.name, model.server), 'small');
  const params = {
    ...(think !== undefined && { think }),
    model: model.name,
    server: model.server,
    messages: [{ role: 'user', content: commitPrompt, attachments }],
  } as const;
  await vscode.window.withProgress({ location, title, cancellable: true }, (progress, token) => {
    const askWithNotices = (take: (delta: ChatDelta) => void) =>
      ask(
        params,
        (delta) => {
          if (delta.kind === 'notice') progress.report({ message: plain(delta.notice.message) });
          take(delta);
        },
        token,
      );
    return writeInto(repository.inputBox, askWithNotices, token);
  });
}

async function openRepositories(): Promise<readonly Repository[]> {
  const git = vscode.extensions.getExtension('vscode.git');
  const api: unknown = git && ((await git.activate()) ?? git.exports);
  const getApi: unknown = typeof api === 'object' && api !== null ? Reflect.get(api, 'getAPI') : undefined;
  if (typeof getApi !== 'function') return [];
  const { repositories } = getApi.call(api, 1) as { readonly repositories: readonly Repository[] };
  return repositories;
}

async function pickRepository(repositories: readonly Repository[]): Promise<Repository | undefined> {
  const items = repositories.map((repository) => ({
    label: repository.rootUri.path.split('/').at(-1) || repository.rootUri.path,
    description: repository.rootUri.fsPath,
    repository,
  }));
  const title = 'Write the Commit Message of Which Repository?';
  return (await vscode.window.showQuickPick(items, { title, matchOnDescription: true }))?.repository;
}
