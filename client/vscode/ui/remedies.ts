import { isRecord } from '../../../protocol/base/json.ts';
import { anyOf } from '../../../protocol/base/text.ts';
import type { Advice, AdviceCode, AdviceMessage } from '../../../protocol/messages/advice.ts';
import type { ErrorData, ErrorKind } from '../../../protocol/messages/errors.ts';
import { defaultServerName } from '../../../protocol/messages/settings.ts';

/** A step that fixes a failure: a button beside its sentence, or a link in a page. */
export interface Remedy {
  readonly title: string;
  readonly command: string;
  readonly arguments?: readonly unknown[];
  /** After it, what failed is tried again. */
  readonly isBeforeRetry?: true;
}

/** How the daemon's advice is followed in this editor. */
interface EditorAdvice {
  /** What to do, in a sentence that follows the problem. */
  readonly text: string;
  readonly remedies: readonly Remedy[];
}

/** Where the advice applies; `server` is the name of the server that was asked, if there is one. */
interface Subject {
  readonly advice: Advice;
  readonly server?: string | undefined;
  /** With a prompt that is too long: the most tokens that its model can have. */
  readonly maximum?: number | undefined;
}

/** What the user can do about a failure, the most useful step first; none where its sentence alone helps. */
export function remediesFor(failure: ErrorData | undefined): readonly Remedy[] {
  if (failure === undefined) return [showLog];
  const { advice, server, maximum, kind } = failure;
  const known = advice && editorAdvice({ advice, server, maximum });
  return known?.remedies ?? remediesByKind[kind](failure);
}

/** The same for a server that does not answer, by what the daemon says of it. */
export function remediesForOffline(
  { advice }: Pick<AdviceMessage, 'advice'>,
  server?: string,
): readonly Remedy[] {
  const known = advice && editorAdvice({ advice, server });
  return (known ?? advices['start-runner']({ server })).remedies;
}

/** The reporter of errors itself does what failed once more. */
export const tryAgain: Remedy = { title: 'Try Again', command: '' };

/** A remedy that leads to another try needs no button for that beside it. */
export function withTryAgain(remedies: readonly Remedy[]): readonly Remedy[] {
  return remedies.some(({ isBeforeRetry }) => isBeforeRetry) ? remedies : [tryAgain, ...remedies];
}

/** A message of the daemon, with advice that can be followed here. */
export function inEditorWords({ message, advice }: AdviceMessage, server?: string): string {
  const known = advice && editorAdvice({ advice, server });
  return known === undefined ? message : `${advice?.problem} ${known.text}`;
}

/** A remedy for a setting that the daemon refused and named: opens that setting. */
export function openNamedSetting(error: unknown): readonly Remedy[] | undefined {
  if (!(error instanceof Error)) return undefined;
  const data: unknown = Reflect.get(error, 'data');
  const path = isRecord(data) ? data['path'] : undefined;
  const [, name] = (typeof path === 'string' && /^initializationOptions\.(\w+)/.exec(path)) || [];
  return name === undefined ? openNamedSetting(error.cause) : [openSetting(`runner.${name}`)];
}

export function setAddress(server?: string): Remedy {
  return { title: 'Set Address', command: 'runner.setAddress', ...argument(server) };
}

export function setToken(server?: string): Remedy {
  return { title: 'Set Token', command: 'runner.setAccessToken', ...argument(server) };
}

/** For someone who has no runner. */
export const startModelHere: Remedy = { title: 'Start a Model Here', command: 'runner.startModelHere' };
export const showDoctor: Remedy = { title: 'What Is Wrong?', command: 'runner.doctor' };
export const pullModel: Remedy = { title: 'Pull a Model', command: 'runner.pullModel' };
export const chooseChatModel: Remedy = { title: 'Choose the Chat Model', command: 'runner.chooseChatModel' };
/** For a chat whose model cannot answer. */
export const chooseAnotherModel: Remedy = { ...chooseChatModel, title: 'Choose Another Model' };
export const letPickerDecide: Remedy = {
  title: 'Let the Picker Decide',
  command: 'runner.letPickerDecide',
};
/** The editor's own list of models below the box of the chat. */
export const openModelPicker: Remedy = {
  title: 'Open the Picker',
  command: 'workbench.action.chat.openModelPicker',
};
export const setContextLength: Remedy = {
  title: 'Set a Larger Context Window',
  command: 'runner.setContextLength',
};
const showLog: Remedy = { title: 'Show Log', command: 'runner.showLog' };
const setCatalogAddress: Remedy = { title: 'Set Address', command: 'runner.setCatalogAddress' };

/** Undefined for a code of a newer daemon, which has no words here. */
function editorAdvice(subject: Subject): EditorAdvice | undefined {
  const known: ((subject: Subject) => EditorAdvice) | undefined = advices[subject.advice.code];
  return known?.(subject);
}

/** Undefined if the model can have no window that fits. */
function enlarge({ contextLength }: Advice): string | undefined {
  if (contextLength === 0) return undefined;
  const size = contextLength === undefined ? '' : ` of ${contextLength.toLocaleString('en-US')} tokens`;
  return `set a larger context window${size} ("Runner: Set the Context Window")`;
}

/** The list of windows begins at what fits, and ends at what the model holds, where that is known. */
function enlarging({ advice: { contextLength: fitting }, maximum }: Subject): readonly Remedy[] {
  if (fitting === 0) return [];
  if (fitting === undefined) return [setContextLength];
  return [{ ...setContextLength, arguments: [maximum === undefined ? { fitting } : { fitting, maximum }] }];
}

const advices = {
  'start-runner': ({ server }: Pick<Subject, 'server'>) => ({
    text: 'Start it (for example with "ollama serve" or "llama-server"), or set its address.',
    remedies: [...(isDefault(server) ? [startModelHere] : []), setAddress(server), showDoctor],
  }),
  'check-address': ({ server }) => ({
    text: `Check the address in ${addressSetting(server)}.`,
    remedies: [setAddress(server), showLog],
  }),
  'check-proxy': ({ server }) => ({
    text: `Check the address in ${addressSetting(server)}, and whether there is a proxy in between.`,
    remedies: [setAddress(server), showLog],
  }),
  'set-address': ({ server }) => ({
    text: `Set ${addressSetting(server)} to where the runner itself answers.`,
    remedies: [setAddress(server), showLog],
  }),
  'name-ca-file': ({ server }) => ({
    text: `If it is your own, name its CA file in ${isDefault(server) ? 'runner.caFile' : 'runner.servers'}.`,
    remedies: [openSetting(isDefault(server) ? 'runner.caFile' : 'runner.servers'), setAddress(server)],
  }),
  'set-token': ({ server }) => ({
    text: 'Store its token with "Runner: Set an Access Token", or check the one that is stored.',
    remedies: [setToken(server)],
  }),
  'set-password': ({ server }) => ({
    text: 'Store its "user:password" with "Runner: Set an Access Token", or check the one that is stored.',
    remedies: [setToken(server)],
  }),
  'use-https': ({ server }) => ({
    text: 'Use https, or set the token again and allow it ("Runner: Set an Access Token").',
    remedies: [setToken(server), setAddress(server)],
  }),
  'shorten-prompt': (subject) => ({
    text: `${anyOf('Shorten it', 'start a new chat', enlarge(subject.advice))}.`,
    remedies: enlarging(subject),
  }),
  'offer-fewer-tools': (subject) => ({
    text: `Most of it describes the tools: ${anyOf('offer fewer tools', enlarge(subject.advice))}.`,
    remedies: enlarging(subject),
  }),
  'make-room': (subject) => ({
    text: `${anyOf('Start a new chat', enlarge(subject.advice))} before anything is refused.`,
    remedies: enlarging(subject),
  }),
  // No chat of this editor uses the daemon's tool servers.
  'log-in': ({ advice: { text } }) => ({ text, remedies: [] }),
  'wait-for-restart': ({ advice: { text } }) => ({ text, remedies: [] }),
  'check-network': () => ({
    text: 'Check the network, or set runner.catalogUrl; installed models work without it.',
    remedies: [setCatalogAddress],
  }),
  'set-catalog': () => ({
    text: 'Set runner.catalogUrl to where a catalog answers; installed models work without it.',
    remedies: [setCatalogAddress, showLog],
  }),
} satisfies Readonly<Record<AdviceCode, (subject: Subject) => EditorAdvice>>;

/** For failures without advice. Whoever reports the failure offers to try again. */
const remediesByKind: Readonly<Record<ErrorKind, (failure: ErrorData) => readonly Remedy[]>> = {
  'server-unreachable': ({ server }) => [setAddress(server)],
  timeout: () => [showDoctor],
  unauthorized: ({ server, signinUrl }) => [signinUrl === undefined ? setToken(server) : signIn(signinUrl)],
  'model-not-found': ({ model, server }) => [model === undefined ? pullModel : pullThis(model, server)],
  'not-supported': () => [],
  'context-exceeded': () => [setContextLength],
  busy: () => [],
  // The address is right, since the runner answered there.
  'bad-response': () => [showDoctor, showLog],
  'runner-failed': ({ model, server, outOfMemory }) =>
    outOfMemory ? [stopOthers(model, server)] : [showLog],
  'invalid-modelfile': () => [],
  'invalid-request': () => [showLog],
};

function isDefault(server = defaultServerName): boolean {
  return server === defaultServerName;
}

function addressSetting(server: string | undefined): string {
  return isDefault(server) ? 'runner.host' : 'runner.servers';
}

export function openSetting(name: string): Remedy {
  return { title: 'Open the Setting', command: 'runner.openSetting', arguments: [name] };
}

function signIn(url: string): Remedy {
  return { title: 'Sign In', command: 'vscode.open', arguments: [url] };
}

function pullThis(model: string, server: string | undefined): Remedy {
  return {
    title: `Pull ${model}`,
    command: 'runner.pullModel',
    arguments: [{ model, ...(server === undefined ? {} : { server }) }],
    isBeforeRetry: true,
  };
}

function stopOthers(model: string | undefined, server: string | undefined): Remedy {
  return {
    title: 'Stop Other Models',
    command: 'runner.stopOtherModels',
    arguments: [{ ...(model === undefined ? {} : { model }), ...(server === undefined ? {} : { server }) }],
    isBeforeRetry: true,
  };
}

function argument(server: string | undefined): Pick<Remedy, 'arguments'> {
  return server === undefined ? {} : { arguments: [server] };
}
