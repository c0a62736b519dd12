import type * as vscode from 'vscode';
import type { Host, Script } from './editor.ts';

// What the editor asks of the extension, as it asks it, without the editor's own chat around it.

/** A prompt to `@runner`. */
export interface AskedPrompt {
  readonly prompt: string;
  readonly command?: string;
  readonly references?: readonly AskedReference[];
  /** The model in the picker: its id, and its vendor if that is not `runner`. */
  readonly picked?: { readonly id: string; readonly vendor?: string };
  /** Names of tools in the prompt. */
  readonly tools?: readonly string[];
  /** Earlier turns: what was asked, and the answer, which may be missing. */
  readonly history?: readonly EarlierTurn[];
  /** The user has cancelled it before the answer begins. */
  readonly isCancelled?: boolean;
  /** What the user answers to questions, as in a script. */
  readonly answers?: readonly string[];
}

/** What is attached to a prompt. Without an id of its own, it is one that the user has attached. */
export interface AskedReference {
  readonly id?: string;
  readonly modelDescription?: string;
  readonly text?: string;
  /** A file or a folder of the workspace. */
  readonly path?: string;
  /** The first and the last line of it, counted from 0. */
  readonly lines?: readonly [number, number];
  /** What was pasted: its type, and its bytes in base64; without bytes, reading it fails. */
  readonly pasted?: { readonly mimeType: unknown; readonly data?: string; readonly isLost?: boolean };
  readonly value?: unknown;
}

export interface EarlierTurn extends Pick<AskedPrompt, 'prompt' | 'command' | 'references'> {
  /** Absent: it was never answered. A text is the model's; an aside is a sentence of ours. */
  readonly answer?: readonly {
    readonly text?: string;
    readonly aside?: string;
    readonly progress?: string;
  }[];
  readonly metadata?: unknown;
}

/** What a participant shows, one entry for each call, what it returns, and what else it asked and did. */
export interface ShownAnswer extends Pick<Script, 'asked' | 'done'> {
  readonly shown: readonly string[];
  readonly result: unknown;
}

/** Run in the host: asks the participant. */
export async function askParticipant({
  vscode,
  seen,
  argument: { asked, workspace },
}: Host<{ readonly asked: AskedPrompt; readonly workspace: string }>): Promise<ShownAnswer> {
  const toValue = ({ text, path, lines, pasted, value }: AskedReference): unknown => {
    if (text !== undefined) return text;
    if (pasted !== undefined)
      return {
        mimeType: pasted.mimeType,
        ...(pasted.isLost ? {} : { data: async () => bytesOf(pasted.data) }),
      };
    if (path === undefined) return value;
    const uri = vscode.Uri.file(`${workspace}/${path}`);
    const [first, last] = lines ?? [];
    return first === undefined || last === undefined
      ? uri
      : new vscode.Location(uri, new vscode.Range(first, 0, last, 1_000));
  };
  const bytesOf = (data: string | undefined) => {
    if (data === undefined) throw new Error('It is gone.');
    return new Uint8Array(Buffer.from(data, 'base64'));
  };
  const toReferences = (some: readonly AskedReference[] = []) =>
    some.map((one) => {
      const value = toValue(one);
      const id = one.id?.replace('WORKSPACE', workspace) ?? 'an attachment';
      return { id, modelDescription: one.modelDescription, value };
    });
  const { ChatRequestTurn, ChatResponseTurn } = vscode as unknown as {
    readonly ChatRequestTurn: new (...parts: readonly unknown[]) => vscode.ChatRequestTurn;
    readonly ChatResponseTurn: new (...parts: readonly unknown[]) => vscode.ChatResponseTurn;
  };
  const toPart = ({ text, aside, progress }: NonNullable<EarlierTurn['answer']>[number]) =>
    progress === undefined
      ? new vscode.ChatResponseMarkdownPart(new vscode.MarkdownString(aside ?? text, aside !== undefined))
      : new vscode.ChatResponseProgressPart(progress);
  const name = 'runner.participant';
  const history = (asked.history ?? []).flatMap(({ prompt, command, references, answer, metadata }) => [
    new ChatRequestTurn(prompt, command, toReferences(references), name, []),
    ...(answer ? [new ChatResponseTurn(answer.map(toPart), { metadata }, name, command)] : []),
  ]);
  const shown: string[] = [];
  const stream = {
    markdown: (value: string | vscode.MarkdownString) =>
      shown.push(
        typeof value === 'string' ? value : `${value.supportThemeIcons ? 'ours: ' : ''}${value.value.trim()}`,
      ),
    progress: (value: string) => shown.push(`${value} …`),
    button: ({ title, command, arguments: given = [] }: vscode.Command) =>
      shown.push(`[${title}] ${[command, ...given.map((one) => JSON.stringify(one))].join(' ')}`),
    reference: ({ uri, range }: vscode.Location) =>
      shown.push(`made from ${uri.path}:${range.start.line}-${range.end.line}`),
  };
  const source = new vscode.CancellationTokenSource();
  if (asked.isCancelled) source.cancel();
  const { id = '', vendor = 'runner' } = asked.picked ?? {};
  const request = {
    prompt: asked.prompt,
    command: asked.command,
    references: toReferences(asked.references),
    toolReferences: (asked.tools ?? []).map((tool) => ({ name: tool })),
    model: { id, vendor, name: id },
  };
  const script: Script = { answers: [...(asked.answers ?? [])], asked: [], done: [] };
  seen.script = script;
  try {
    const result = await seen.participant?.answer(
      request as unknown as vscode.ChatRequest,
      { history },
      stream as unknown as vscode.ChatResponseStream,
      source.token,
    );
    // What it opens beside the answer comes after it.
    for (const end = Date.now() + 20_000; script.answers.length > 0 && Date.now() < end; )
      await new Promise(setImmediate);
    return { shown, result, asked: script.asked, done: script.done };
  } finally {
    seen.script = undefined;
  }
}

/** A request to a model, as another extension or the editor's own chat makes it. */
export interface AskedModel {
  readonly id: string;
  readonly messages: readonly AskedMessage[];
  /** The id of who asks, which only newer editors pass on. */
  readonly initiator?: unknown;
  readonly tools?: readonly string[];
  readonly isToolRequired?: boolean;
  readonly modelOptions?: Readonly<Record<string, unknown>>;
  /** What the user answers to the question after a refusal. */
  readonly answers?: readonly string[];
}

export interface AskedMessage {
  readonly role: 'user' | 'assistant' | 'system';
  readonly text: string;
}

/**
 * Run in the host: what the provider reports for a request, one entry for each part, or how it fails, and what it asks
 * beside that.
 */
export async function askProvider({ vscode, seen, argument }: Host<AskedModel>): Promise<object> {
  const { provider } = seen;
  const source = new vscode.CancellationTokenSource();
  const models = (await provider?.provideLanguageModelChatInformation({ silent: true }, source.token)) ?? [];
  const model = models.find(({ id }) => id === argument.id);
  if (!provider || !model) throw new Error(`There is no model ${argument.id}.`);
  const roles = { user: 1, assistant: 2, system: 3 };
  const messages = argument.messages.map(({ role, text }) => ({
    role: roles[role],
    name: undefined,
    content: [new vscode.LanguageModelTextPart(text)],
  }));
  const { initiator, tools, isToolRequired, modelOptions } = argument;
  const { Auto, Required } = vscode.LanguageModelChatToolMode;
  const options = {
    ...(modelOptions && { modelOptions }),
    ...(tools && { tools: tools.map((name) => ({ name, description: 'It is one.' })) }),
    ...(initiator !== undefined && { requestInitiator: initiator }),
    toolMode: isToolRequired ? Required : Auto,
  };
  const shown: string[] = [];
  const report = (part: vscode.LanguageModelResponsePart) => {
    if (part instanceof vscode.LanguageModelTextPart) shown.push(part.value);
    else if (part instanceof vscode.LanguageModelDataPart)
      shown.push(`${part.mimeType}: ${new TextDecoder().decode(part.data)}`);
    else if (part instanceof vscode.LanguageModelToolCallPart)
      shown.push(`calls ${part.name} ${JSON.stringify(part.input)}`);
    else shown.push(`${part.constructor.name}: ${JSON.stringify(part)}`);
  };
  const script: Script = { answers: [...(argument.answers ?? [])], asked: [], done: [] };
  seen.script = script;
  try {
    await provider.provideLanguageModelChatResponse(
      model,
      messages as unknown as readonly vscode.LanguageModelChatRequestMessage[],
      options as vscode.ProvideLanguageModelChatResponseOptions,
      { report },
      source.token,
    );
  } catch (error) {
    const { code, message, stack } = error as { code?: string; message: string; stack?: string };
    const kind = error instanceof vscode.LanguageModelError ? 'its own error' : 'an error';
    shown.push([kind, code, stack ? '' : 'without a stack', message].filter(Boolean).join(', '));
  }
  // The question comes beside the error.
  for (const end = Date.now() + 20_000; script.answers.length > 0 && Date.now() < end; )
    await new Promise(setImmediate);
  seen.script = undefined;
  return { shown, asked: script.asked, done: script.done };
}

/** Where a completion is asked for: in a file of the workspace, perhaps with an item of the list selected. */
export interface AskedCompletion {
  readonly path: string;
  readonly line: number;
  readonly character: number;
  readonly isInvoked?: boolean;
  readonly selected?: string;
}

/** Run in the host: what is offered there. */
export async function askCompleter({
  vscode,
  seen,
  argument: { path, line, character, isInvoked, selected },
}: Host<AskedCompletion>): Promise<unknown> {
  const document = await vscode.workspace.openTextDocument(path);
  const position = new vscode.Position(line, character);
  const { token } = new vscode.CancellationTokenSource();
  const { Invoke, Automatic } = vscode.InlineCompletionTriggerKind;
  const range = new vscode.Range(line, 0, line, character);
  const context = {
    triggerKind: isInvoked ? Invoke : Automatic,
    selectedCompletionInfo: selected === undefined ? undefined : { range, text: selected },
  };
  return seen.completer?.provideInlineCompletionItems(document, position, context, token);
}

/** Run in the host: the tokens of a text for a model. */
export async function countTokens({
  vscode,
  seen,
  argument,
}: Host<{ readonly id: string; readonly text: string | readonly AskedMessage[] }>): Promise<number> {
  const source = new vscode.CancellationTokenSource();
  const { id, text } = argument;
  const model = { id } as vscode.LanguageModelChatInformation;
  const asked =
    typeof text === 'string'
      ? text
      : ({
          role: 2,
          content: [
            ...text.map((one) => new vscode.LanguageModelTextPart(one.text)),
            new vscode.LanguageModelToolCallPart('c', 'look', { at: 'it' }),
          ],
        } as unknown as vscode.LanguageModelChatRequestMessage);
  return (await seen.provider?.provideTokenCount(model, asked, source.token)) ?? -1;
}

/** Run in the host: the quick fixes of this extension for problems in these lines. */
export async function askFixes({
  vscode,
  argument: { path, lines },
}: Host<{ readonly path: string; readonly lines: readonly number[] }>): Promise<unknown> {
  const uri = vscode.Uri.file(path);
  await vscode.window.showTextDocument(uri);
  const problems = vscode.languages.createDiagnosticCollection('driver');
  const range = (line: number) => new vscode.Range(line, 0, line, 1);
  problems.set(
    uri,
    lines.map((line) => new vscode.Diagnostic(range(line), `It is wrong in ${line}.`)),
  );
  const all = await vscode.commands.executeCommand<vscode.CodeAction[]>(
    'vscode.executeCodeActionProvider',
    uri,
    range(lines[0] ?? 0).union(range(lines.at(-1) ?? 0)),
  );
  problems.dispose();
  return all.flatMap(({ title, kind, command }) =>
    / with Runner$/.test(title) ? [[title, kind?.value, command?.command, command?.arguments]] : [],
  );
}
