import { count } from '../base/text.ts';
import type { AdviceMessage } from './advice.ts';
import type { NotificationMessage, RequestMessage, ServerParams } from './messageTypes.ts';

/** The programs that can run models, as far as they differ for a user. */
export type Product = 'ollama' | 'llama.cpp' | 'lmstudio' | 'vllm' | 'other';

/** How a product is called in a sentence. */
export const productNames: Readonly<Record<Product, string>> = {
  ollama: 'Ollama',
  'llama.cpp': 'llama.cpp',
  lmstudio: 'LM Studio',
  vllm: 'vLLM',
  other: 'This server',
};

/** What a runner can do. A client offers that and nothing else. */
export type Ability =
  | 'chat'
  | 'complete'
  /** Counts a prompt before it is sent. */
  | 'count'
  | 'load'
  | 'unload'
  | 'pull'
  | 'delete'
  | 'create'
  /** Makes vectors of texts. No message asks for it yet. It is said of Ollama alone; other servers may do it too. */
  | 'embed'
  | 'logs'
  /** The models of the public library, and of its cloud, can be used there. */
  | 'catalog';

export interface Status extends AdviceMessage {
  readonly state: 'checking' | 'online' | 'busy' | 'offline';
  readonly kind: 'ok' | 'warning' | 'error';
  /** A sentence for the user. */
  readonly message: string;
  /** The runner's version, if known. */
  readonly version?: string;
  /** What answers there; absent as long as nothing has. */
  readonly product?: Product;
  readonly can?: readonly Ability[];
  /** The command that would solve the problem. */
  readonly command?: {
    readonly title: string;
    readonly command: string;
    readonly arguments?: readonly unknown[];
  };
}

/** A sentence after the message that names Ollama; empty for other products, which the message names. */
export function nameAfter({ product }: Pick<Status, 'product'>): string {
  return product === 'ollama' ? 'It is Ollama.' : '';
}

/** Client to daemon: ask for the runner's status. */
export const statusRequest: RequestMessage<ServerParams, Status> = { method: 'runner/status' };

/** A configured server and its status. */
export interface ServerStatus {
  readonly name: string;
  /** Its base address. */
  readonly url: string;
  /** Of a server that does not answer in time: `offline`. */
  readonly status: Status;
}

/**
 * Client to daemon: ask for the status of every configured server, the one at `host` first. All are asked at once, and
 * none delays the answer by more than four seconds.
 */
export const serversRequest: RequestMessage<
  Readonly<Record<string, never>>,
  { readonly servers: readonly ServerStatus[] }
> = {
  method: 'runner/servers',
};

export interface ProbeParams extends ServerParams {
  /** As the user typed it, in any form that `OLLAMA_HOST` may have. */
  readonly url: string;
}

export interface ProbeResult {
  /** Empty if the runner has none. */
  readonly version: string;
  readonly product: Product;
}

/**
 * Client to daemon: ask whether a runner answers at an address that is not in the settings yet. `server` is the server
 * that would have the address: its CA file counts. The answer is an error if no runner answers within four seconds.
 */
export const probeRequest: RequestMessage<ProbeParams, ProbeResult> = {
  method: 'runner/probe',
};

/** A runner that the user has not named. */
export interface FoundRunner {
  readonly url: string;
  readonly product: Product;
  /** Absent if it wants a token. */
  readonly models?: number;
}

/** A sentence or two about it, such as `llama.cpp answers at http://127.0.0.1:8080. It has 1 model.` */
export function describeFound({ url, product, models }: FoundRunner): string {
  const name = product === 'other' ? 'A runner' : productNames[product];
  return `${name} answers at ${url}. ${models === undefined ? 'It wants a token.' : `It has ${count(models, 'model')}.`}`;
}

/**
 * Client to daemon: look for runners at the usual ports of this machine, without any token. Clients ask when the user
 * starts a check and nothing answers where it should; nothing is set.
 */
export const discoverRequest: RequestMessage<
  Readonly<Record<string, never>>,
  { readonly runners: readonly FoundRunner[] }
> = {
  method: 'runner/discover',
};

export interface SetHostParams {
  /** As the user typed it, in any form that `OLLAMA_HOST` may have. */
  readonly url: string;
}

/**
 * Client to daemon: the user wants this runner from now on. It becomes `host` in the user's own configuration, and
 * counts when a daemon starts. A client with settings of its own sets it there instead.
 */
export const setHostRequest: RequestMessage<SetHostParams, { readonly path: string }> = {
  method: 'runner/setHost',
};

/** Daemon to client: the runner's status changed. */
export const statusDidChange: NotificationMessage<Status> = { method: 'runner/status/didChange' };

/** What a server that lacks an ability cannot do. */
const deeds: Readonly<Record<Ability, string>> = {
  chat: 'answer in a chat',
  complete: 'complete code',
  count: 'count tokens',
  load: 'load models on request',
  unload: 'unload models on request',
  pull: 'download models',
  delete: 'delete models',
  create: 'create models from Modelfiles, which are a feature of Ollama',
  embed: 'embed texts',
  logs: 'show its log',
  catalog: 'use the catalog of Ollama',
};

/** What to do instead, whatever the product is. */
const instead: Partial<Readonly<Record<Ability, string>>> = {
  create: 'Use an Ollama server for that.',
  catalog: 'Use an Ollama server for that.',
  logs: 'Read it where the server was started.',
};

/** What to do instead with a product. */
const otherWays: Readonly<Record<Product, string>> = {
  ollama: 'Update it.',
  'llama.cpp': 'Start llama-server with the model that you want, or without one as a router.',
  lmstudio: 'Do it in LM Studio itself.',
  vllm: 'Start it with the model that you want.',
  other: 'Do it in the program that serves the models.',
};

/** The sentences of a `not-supported` error for an ability that a product lacks. `url` is the server's address. */
export function refusalOf(product: Product, ability: Ability, url?: string): string {
  const place = url === undefined ? '' : ` at ${url}`;
  return `${productNames[product]}${place} cannot ${deeds[ability]}. ${instead[ability] ?? otherWays[product]}`;
}
