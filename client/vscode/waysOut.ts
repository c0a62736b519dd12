import type { ErrorData, ErrorKind } from '../../protocol/messages/errors.ts';

/** A step that mends a failure: a button beside its sentence, or a link in a page. */
export interface WayOut {
  readonly title: string;
  readonly command: string;
  readonly arguments?: readonly unknown[];
  /** After it, what failed is tried again. */
  readonly isBeforeRetry?: true;
}

/** What the user can do about a failure, the most useful step first; none where its sentence alone helps. */
export function waysOutOf(failure: ErrorData | undefined): readonly WayOut[] {
  return failure === undefined ? [showLog] : ways[failure.kind](failure);
}

/** Where the daemon refused a setting and named it: the way to that setting. */
export function openNamedSetting(error: unknown): readonly WayOut[] | undefined {
  if (!(error instanceof Error)) return undefined;
  const data: unknown = Reflect.get(error, 'data');
  const path: unknown = typeof data === 'object' && data !== null ? Reflect.get(data, 'path') : undefined;
  const [, name] = (typeof path === 'string' && /^initializationOptions\.(\w+)/.exec(path)) || [];
  if (name === undefined) return openNamedSetting(error.cause);
  return [{ title: 'Open the Setting', command: 'runner.openSetting', arguments: [`runner.${name}`] }];
}

export function setAddress(server?: string): WayOut {
  return { title: 'Set Address', command: 'runner.setAddress', ...argument(server) };
}

export function setToken(server?: string): WayOut {
  return { title: 'Set Token', command: 'runner.setAccessToken', ...argument(server) };
}

export const showDoctor: WayOut = { title: 'What Is Wrong?', command: 'runner.doctor' };
export const pullModel: WayOut = { title: 'Pull a Model', command: 'runner.pullModel' };
const showLog: WayOut = { title: 'Show Log', command: 'runner.showLog' };
const setWindow: WayOut = { title: 'Set a Larger Window', command: 'runner.setContextLength' };

/** Each kind of failure with its steps; trying again is up to who reports it. */
const ways: Readonly<Record<ErrorKind, (failure: ErrorData) => readonly WayOut[]>> = {
  'server-unreachable': ({ server }) => [setAddress(server)],
  timeout: () => [showDoctor],
  unauthorized: ({ server, signinUrl }) => [signinUrl === undefined ? setToken(server) : signIn(signinUrl)],
  'model-not-found': ({ model, server }) => [model === undefined ? pullModel : pullThis(model, server)],
  'not-supported': () => [],
  'context-exceeded': () => [setWindow],
  busy: () => [],
  'bad-response': ({ server }) => [setAddress(server), showLog],
  'runner-failed': ({ model, server, outOfMemory }) =>
    outOfMemory ? [stopOthers(model, server)] : [showLog],
  'invalid-modelfile': () => [],
  'invalid-request': () => [showLog],
};

function signIn(url: string): WayOut {
  return { title: 'Sign In', command: 'vscode.open', arguments: [url] };
}

function pullThis(model: string, server: string | undefined): WayOut {
  return {
    title: `Pull ${model}`,
    command: 'runner.pullModel',
    arguments: [{ model, ...(server === undefined ? {} : { server }) }],
    isBeforeRetry: true,
  };
}

function stopOthers(model: string | undefined, server: string | undefined): WayOut {
  return {
    title: 'Stop Other Models',
    command: 'runner.stopOtherModels',
    arguments: [{ ...(model === undefined ? {} : { model }), ...(server === undefined ? {} : { server }) }],
    isBeforeRetry: true,
  };
}

function argument(server: string | undefined): Pick<WayOut, 'arguments'> {
  return server === undefined ? {} : { arguments: [server] };
}
