import { subscribe, unsubscribe } from 'node:diagnostics_channel';
import { EventEmitter, once } from 'node:events';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { isRecord } from '../../protocol/base/json.ts';
import { chatRequest } from '../../protocol/messages/chat.ts';
import {
  type InlineCompletionList,
  inlineCompletionRequest,
  type SelectedCompletionInfo,
} from '../../protocol/messages/completion.ts';
import type { TextPosition } from '../../protocol/messages/messageTypes.ts';
import type { RunnerOptions } from '../../protocol/messages/settings.ts';
import type { DaemonClient } from './daemonClient.ts';
import type { PairOptions } from './daemonPair.ts';
import { startDaemonWithRunner, type Teardown } from './daemonWithRunner.ts';
import type { StandInModel } from './runner/standInModel.ts';
import type { RecordedRequest, RunnerStandIn } from './runnerStandIn.ts';

/** The document of most tests. */
export const sumFile = 'file:///shop/sum.ts';

export const fillers: readonly StandInModel[] = [
  { name: 'filler:latest', capabilities: ['completion', 'insert'] },
  { name: 'qwen2.5-coder:1b', capabilities: ['completion'] },
  { name: 'deepseek-coder:7b', capabilities: ['completion', 'insert'] },
  { name: 'talker:latest', capabilities: ['completion'] },
];

/** The body of a request for a text. */
export interface FillBody {
  readonly model: string;
  readonly prompt: string;
  readonly suffix: string;
  readonly raw?: boolean;
  readonly keep_alive?: number | string;
  readonly options: {
    readonly num_predict?: number;
    readonly num_ctx?: number;
    readonly stop?: readonly string[];
  };
}

export function generates(runner: RunnerStandIn): readonly FillBody[] {
  return runner.bodies('/api/generate') as readonly FillBody[];
}

/** A request for what follows this text; what is fetched ahead follows another. */
export const asksAfter =
  (end: string) =>
  ({ body }: Pick<RecordedRequest, 'body'>) =>
    String((body as Partial<FillBody> | undefined)?.prompt).endsWith(end);

export const textOf = (list: InlineCompletionList | null) => list?.items[0]?.insertText;

/** The text of a document whose cursor is the mark, and where that is. */
function marked(text: string): { readonly text: string; readonly position: TextPosition } {
  const before = text.slice(0, text.indexOf('│')).split(/\r\n|\r|\n/);
  const position = { line: before.length - 1, character: before.at(-1)?.length ?? 0 };
  return { text: text.replace('│', ''), position };
}

/** Opens a document whose cursor is the mark, and says where that is. */
export async function open(daemon: DaemonClient, text: string, at = sumFile, languageId = 'typescript') {
  const { text: whole, position } = marked(text);
  const textDocument = { uri: at, languageId, version: 1, text: whole };
  await daemon.connection.sendNotification('textDocument/didOpen', { textDocument });
  return position;
}

export function close(daemon: DaemonClient, at = sumFile): Promise<void> {
  return daemon.connection.sendNotification('textDocument/didClose', { textDocument: { uri: at } });
}

/** Changes the whole text, and says where the mark is then. */
export async function change(daemon: DaemonClient, text: string, version: number, at = sumFile) {
  const { text: whole, position } = marked(text);
  await daemon.connection.sendNotification('textDocument/didChange', {
    textDocument: { uri: at, version },
    contentChanges: [{ text: whole }],
  });
  return position;
}

/** Types at a cursor: a change of the document, and where the cursor stands then. */
export async function type(
  daemon: DaemonClient,
  at: TextPosition,
  text: string,
  { version, uri = sumFile }: { readonly version: number; readonly uri?: string },
): Promise<TextPosition> {
  await daemon.connection.sendNotification('textDocument/didChange', {
    textDocument: { uri, version },
    contentChanges: [{ range: { start: at, end: at }, text }],
  });
  const lines = text.split('\n');
  const last = lines.at(-1)?.length ?? 0;
  return lines.length === 1
    ? { line: at.line, character: at.character + last }
    : { line: at.line + lines.length - 1, character: last };
}

interface AskOptions {
  readonly uri?: string;
  /** Asked by hand, without a pause, is 1, and 2 while the user types. */
  readonly triggerKind?: number;
  readonly selected?: SelectedCompletionInfo;
  readonly signal?: AbortSignal;
}

export function ask(
  daemon: DaemonClient,
  position: TextPosition,
  { uri: at = sumFile, triggerKind = 1, selected, signal }: AskOptions = {},
): Promise<InlineCompletionList | null> {
  const context = { triggerKind, ...(selected && { selectedCompletionInfo: selected }) };
  const params = { textDocument: { uri: at }, position, context };
  return daemon.request(inlineCompletionRequest, params, signal);
}

export function setOptions(daemon: DaemonClient, runner: RunnerOptions): Promise<void> {
  return daemon.connection.sendNotification('workspace/didChangeConfiguration', { settings: { runner } });
}

interface BusyOptions {
  readonly options?: RunnerOptions;
  readonly models?: readonly StandInModel[];
  readonly pair?: PairOptions;
}

/** A daemon that waits for no pause, and a runner that a chat keeps busy, so that nothing is asked for ahead. */
export async function startBusy(test: Teardown, { options, models = fillers, pair }: BusyOptions = {}) {
  const { runner, daemon } = await startDaemonWithRunner(
    test,
    { completionModel: 'filler', logLevel: 'debug', ...options },
    { standIn: { models }, pair: { wait: async () => undefined, ...pair } },
  );
  await keepBusy(daemon, runner);
  return { runner, daemon };
}

/** A chat that is never answered. It ends with the connection, or by the function that is returned. */
export async function keepBusy(daemon: DaemonClient, runner: RunnerStandIn): Promise<() => Promise<unknown>> {
  runner.on('/api/chat').hang();
  const stop = new AbortController();
  const messages = [{ role: 'user' as const, content: 'Hi' }];
  const chat = daemon
    .request(chatRequest, { streamId: 's', model: 'talker', messages }, stop.signal)
    .catch(() => undefined);
  await runner.waitFor(({ path }) => path === '/api/chat');
  return () => {
    stop.abort();
    return chat;
  };
}

/** Resolves when what is received has this text, and the receiver has had its turn. */
export async function untilReceived(text: string): Promise<void> {
  const received = new EventEmitter();
  const look = (event: unknown) => {
    if (isRecord(event) && String(event['chunk']).includes(JSON.stringify(text).slice(1, -1)))
      received.emit('text');
  };
  subscribe('undici:request:bodyChunkReceived', look);
  await once(received, 'text');
  unsubscribe('undici:request:bodyChunkReceived', look);
  await nextTurn();
}
