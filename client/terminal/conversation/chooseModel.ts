import { nearestNames } from '../../../protocol/base/editDistance.ts';
import { showLine } from '../../../protocol/base/text.ts';
import {
  canChat,
  chatModelRequest,
  listModelsRequest,
  type Model,
  showModelRequest,
} from '../../../protocol/messages/models.ts';
import {
  type Product,
  type Status,
  serversRequest,
  statusRequest,
} from '../../../protocol/messages/status.ts';
import { fullModelName } from '../../shared/words.ts';
import { failureOf, TerminalError } from '../cli/failure.ts';
import type { DaemonClient } from '../daemon/daemon.ts';

/**
 * The model to talk to: the named one, or else the one that the daemon chooses, which is the same for every client.
 * @param onDidMiss called with a sentence if the setting "chatModel" names a model that cannot answer.
 * @throws {TerminalError} with a sentence, if there is no model.
 */
export async function chooseModel(
  daemon: DaemonClient,
  named: string | undefined,
  onDidMiss: (sentence: string) => Promise<void> = async () => undefined,
  isOffered: (model: Model) => boolean = canChat,
): Promise<string> {
  const unasked = named === undefined ? await daemon.request(chatModelRequest, {}) : {};
  if (unasked.missing !== undefined)
    await onDidMiss(
      `The model "${showLine(unasked.missing)}" of "chatModel" is not installed, or cannot chat.${unasked.model ? ` ${showLine(unasked.model.name)} answers instead.` : ''}`,
    );
  if (unasked.model) return unasked.model.name;
  const { models, stale } = await daemon.request(listModelsRequest, { everywhere: true });
  const able = models.filter(canChat);
  if (named !== undefined) {
    const found = findModel(models, named);
    if (typeof found !== 'string') return found.name;
    if (stale) return named;
    throw new TerminalError('model-not-found', `${found} ${namesOf(models.filter(isOffered))}`);
  }
  const get = howToGet(await daemon.request(statusRequest, {}));
  if (able.length > 0)
    throw new TerminalError(
      'model-not-found',
      `Every installed model that can chat runs elsewhere. To send there all the same, name one, such as "--model ${showLine(able[0]?.name ?? '')}". Or take one of your own. ${get}`,
    );
  throw new TerminalError(
    'model-not-found',
    models.length === 0
      ? `The runner has no model yet. ${get}`
      : `None of the installed models can chat. ${get}`,
  );
}

/** How the user gets a model, as far as the server lets its clients do it. */
export function howToGet({ can }: Pick<Status, 'can'>): string {
  return can?.includes('pull') === false
    ? 'Load one in the program that serves the models.'
    : 'Pull one, for example with "runner pull qwen3:4b".';
}

/** The model with this name, or else a sentence with similar names. */
export function findModel(models: readonly Model[], text: string): Model | string {
  const isIt = (name: string) => fullModelName(name) === fullModelName(text);
  const found =
    models.find(({ name }) => isIt(name)) ?? models.find(({ name, server }) => isIt(ownName(name, server)));
  if (found) return found;
  const near = nearestNames(
    text,
    models.map(({ name }) => name),
  );
  const hint = near.length > 0 ? ` Did you mean ${near.map(showLine).join(' or ')}?` : '';
  return `There is no model "${showLine(text)}".${hint}`;
}

/** @throws {TerminalError} with similar names, if it is not installed. A list may be out of date. */
export async function findInstalled(
  daemon: DaemonClient,
  named: string,
): Promise<Pick<Model, 'name'> & Partial<Pick<Model, 'server' | 'size' | 'running'>>> {
  const { models } = await daemon.request(listModelsRequest, { refresh: true, everywhere: true });
  const found = findModel(models, named);
  return typeof found === 'string' ? { name: await chooseModel(daemon, named) } : found;
}

/** The name that the server itself has for a model, without the server's own. */
export function ownName(name: string, server = ''): string {
  return server !== '' && name.startsWith(`${server}/`) ? name.slice(server.length + 1) : name;
}

/** The same error, with similar names in it if the named model does not exist. */
export async function withNearModels(
  daemon: DaemonClient,
  named: string,
  error: unknown,
  isOffered?: (model: Model) => boolean,
): Promise<unknown> {
  if (failureOf(error).kind !== 'model-not-found') return error;
  try {
    await chooseModel(daemon, named, undefined, isOffered);
    return error;
  } catch (better) {
    return better instanceof TerminalError ? better : error;
  }
}

/** Settles as `work` does. If the named model does not exist, the error has similar names. */
export async function orNearModels<T>(daemon: DaemonClient, named: string, work: Promise<T>): Promise<T> {
  try {
    return await work;
  } catch (error) {
    throw await withNearModels(daemon, named, error, () => true);
  }
}

function namesOf(models: readonly Model[]): string {
  if (models.length === 0) return 'None that can chat is installed. Pull one with "runner pull".';
  const some = models.slice(0, 5).map(({ name }) => showLine(name));
  return `Installed: ${some.join(', ')}${models.length > some.length ? ', …' : ''}.`;
}

/** Whether a model can call tools, as far as the runner says so. */
export async function takesTools(daemon: DaemonClient, model: string): Promise<boolean> {
  try {
    const { capabilities } = (await daemon.request(showModelRequest, { model })).model;
    return capabilities.tools.value !== false;
  } catch {
    return true;
  }
}

/** What serves a model; undefined if it does not answer. */
export async function productOf(daemon: DaemonClient, model: string): Promise<Product | undefined> {
  try {
    if (!model.includes('/')) return (await daemon.request(statusRequest, {})).product;
    const { servers } = await daemon.request(serversRequest, {});
    return (servers.find(({ name }) => model.startsWith(`${name}/`)) ?? servers[0])?.status.product;
  } catch {
    return undefined;
  }
}
