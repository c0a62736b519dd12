import { readFile, realpath } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import type { ChatDelta, ChatParams, Message } from '../../protocol/messages/chat.ts';
import type { InitializationOptions } from '../../protocol/messages/initialize.ts';
import {
  type ApproveToolParams,
  type ApproveToolResult,
  approveToolRequest,
  type ToolDecision,
} from '../../protocol/messages/tools.ts';
import type { ChatOptions } from './daemonClient.ts';
import type { PairOptions } from './daemonPair.ts';
import { startDaemonWithRunner, type Teardown } from './daemonWithRunner.ts';
import type { StandInModel } from './runner/standInModel.ts';
import type { RecordedRequest, RunnerStandIn } from './runnerStandIn.ts';
import { temporaryFolder } from './temporaryFolder.ts';

const models = [
  { name: 'able:latest', capabilities: ['completion', 'tools'] },
  { name: 'seer:latest', capabilities: ['completion', 'tools', 'vision'] },
] as const;

export const question = {
  model: 'able',
  messages: [{ role: 'user', content: 'go' }],
  hostedTools: 'all',
} as const;

/** A tool server that is as its first argument says. */
export const toolServerPath = resolve('test', 'support', 'toolServer.cjs');

type UserAnswer = ToolDecision | ApproveToolResult;

export interface ToolOptions extends InitializationOptions {
  /** How questions are answered; without it nobody can be asked. */
  readonly decide?: (question: ApproveToolParams) => UserAnswer | Promise<UserAnswer>;
  readonly userConfig?: unknown;
  readonly pair?: PairOptions;
  /** Called with each request before it is answered, so that a model can react to what it reads. */
  readonly onRequest?: (request: RecordedRequest) => void;
  /** Beside `able` and `seer`. */
  readonly models?: readonly StandInModel[];
}

/** A daemon with tool servers of these kinds, each under its own name. */
export async function startWithTools(
  test: Teardown,
  kinds: readonly string[],
  { decide, userConfig, pair, onRequest, models: more = [], ...options }: ToolOptions = {},
) {
  const home = await temporaryFolder(
    test,
    userConfig === undefined ? {} : { 'runner/config.json': JSON.stringify(userConfig) },
  );
  const questions: ApproveToolParams[] = [];
  const record = (kind: string) => join(home, `${kind}.jsonl`);
  const entry = (kind: string) => ({ command: process.execPath, args: [toolServerPath, kind, record(kind)] });
  const { runner, daemon } = await startDaemonWithRunner(
    test,
    {
      trusted: true,
      mcpServers: Object.fromEntries(kinds.map((kind) => [kind, entry(kind)])),
      ...(decide ? {} : { approvals: Object.fromEntries(kinds.map((kind) => [kind, 'always'])) }),
      ...options,
    },
    {
      standIn: {
        ...(onRequest ? { onRequest } : {}),
        models: [...models, ...more].map((model) => ({
          contextLength: 131_072,
          ...model,
          capabilities: [...(model.capabilities ?? [])],
        })),
      },
      pair: {
        env: { PATH: process.env['PATH'], HOME: home, XDG_CONFIG_HOME: home },
        ...(decide ? { capabilities: { experimental: { runner: { approvesTools: true } } } } : {}),
        answers: {
          [approveToolRequest.method]: async (question) => {
            questions.push(question as ApproveToolParams);
            const answer = await decide?.(question as ApproveToolParams);
            return typeof answer === 'object' ? answer : { decision: answer };
          },
        },
        ...pair,
      },
    },
  );
  const recorded = async (kind: string): Promise<readonly Record<string, unknown>[]> => {
    const text = await readFile(record(kind), 'utf8').catch(() => '');
    return text.split('\n').flatMap((line) => (line === '' ? [] : [JSON.parse(line)]));
  };
  const ask = (params: Partial<ChatParams> = {}, chatOptions: ChatOptions = {}) =>
    daemon.chat({ ...question, ...params }, chatOptions);
  return { runner, daemon, questions, recorded, ask, home, entry };
}

/** A daemon with the built-in tools in a folder with these files, beside tool servers of these kinds. */
export async function startInFolder(
  test: Teardown,
  files: Readonly<Record<string, string | Uint8Array>>,
  {
    pair,
    kinds = [],
    client = { showsDiffs: true },
    ...options
  }: ToolOptions & { readonly client?: object; readonly kinds?: readonly string[] } = {},
) {
  const folder = await realpath(await temporaryFolder(test, files));
  const started = await startWithTools(test, kinds, {
    builtinTools: true,
    ...options,
    pair: {
      ...pair,
      capabilities: {
        experimental: { runner: { folder, approvesTools: options.decide !== undefined, ...client } },
      },
    },
  });
  const call = async (name: string, given: object) => {
    started.runner.toolCalls([{ id: 'one', name, arguments: { ...given } }]);
    started.runner.say('done');
    const { result } = await started.ask();
    return answersOf(result.messages)[0] ?? '';
  };
  const read = (path: string) => readFile(join(folder, path), 'utf8');
  return { ...started, folder, call, read };
}

export const echo = (word: string, id = 'call_1') => ({ id, name: 'echo', arguments: { word } });

export function resultsOf(deltas: readonly ChatDelta[]) {
  return deltas.flatMap((delta) => (delta.kind === 'toolResult' ? [delta.toolResult] : []));
}

export function answersOf(messages: readonly Message[] = []): readonly string[] {
  return messages.flatMap(({ role, content }) => (role === 'tool' ? [content] : []));
}

export function offeredTo(runner: RunnerStandIn, index = -1): readonly string[] {
  const body = runner.bodies('/api/chat').at(index) as { tools?: { function: { name: string } }[] };
  return (body.tools ?? []).map(({ function: { name } }) => name);
}
