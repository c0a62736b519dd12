import type { NotificationMessage, RequestMessage, ServerParams, WorkDoneParams } from './messageTypes.ts';
import { defaultServerName } from './settings.ts';

/** What a model may be able to do. `insert` is filling in the middle. */
export type CapabilityName = 'completion' | 'tools' | 'vision' | 'thinking' | 'insert' | 'embedding';

/**
 * Where a fact about a model was learnt. `observed`: from what the model did or refused in this session. `assumed`:
 * nobody said it, and it is what such a server usually does.
 */
export type FactSource = 'server' | 'observed' | 'name' | 'configured' | 'assumed';

/** Whether a model can do something, and how the daemon learnt it. */
export interface Capability {
  readonly value: boolean | 'unknown';
  readonly from: FactSource;
}

export interface ModelDetails {
  /** The server's own family, such as `qwen2`. */
  readonly family: string;
  /** Such as `3.1B`. */
  readonly parameterSize: string;
  /** Such as `Q4_K_M`. */
  readonly quantization: string;
}

/** Tokens of a window. */
export interface ContextLength {
  /** What the runner has allocated for the loaded model. */
  readonly allocated?: number;
  /** What the user or the Modelfile requests. */
  readonly configured?: number;
  /** What the model was made for. */
  readonly maximum?: number;
  /** Where the figures were learnt; absent if there is none. */
  readonly from?: FactSource;
}

export interface Model {
  /** With its tag, such as `qwen3:8b`. Where models of all servers are listed, also such as `box/qwen3:8b`. */
  readonly name: string;
  readonly server: string;
  /** Bytes on disk. */
  readonly size?: number;
  /** 64 hexadecimal digits. */
  readonly digest?: string;
  /** @format date-time */
  readonly modifiedAt?: string;
  /** The daemon's own grouping, by the prefix of the name. */
  readonly family: string;
  readonly details?: ModelDetails;
  readonly capabilities: Readonly<Record<CapabilityName, Capability>>;
  readonly context: ContextLength;
  /** Set for a model whose requests the runner forwards to another host. */
  readonly remote?: { readonly host: string; readonly model: string };
  readonly running?: RunningState;
  /** False if it can be told whether to think, but not how much: it has refused a level. */
  readonly thinkingLevels?: false;
  /** Set while the server loads the model, as far as the server says so. */
  readonly loading?: LoadingState;
}

export interface LoadingState {
  /**
   * Absent if the server does not say it.
   * @type number
   * @minimum 0
   * @maximum 100
   */
  readonly percent?: number;
}

export interface RunningState {
  /** @format date-time */
  readonly expiresAt: string;
  /** Bytes of memory. */
  readonly size: number;
  /** The part of it on the GPU, in bytes. */
  readonly sizeVram: number;
}

export interface ListModelsParams extends ServerParams {
  /** True asks the runner even if the daemon has a fresh list. */
  readonly refresh?: boolean;
  /** True examines each model that may chat if its tool support is not known yet, up to 100 models. */
  readonly examine?: boolean;
  /**
   * True lists the models of all servers. A model of another server than the one at `host` has a name such as
   * `box/qwen3:8b`, by which every request without a `server` finds it.
   */
  readonly everywhere?: boolean;
}

export interface ListModelsResult {
  readonly models: readonly Model[];
  /** The server is down, and this is the last known list. */
  readonly stale?: true;
  /** The number of models beyond the first 10,000, which a list is limited to. */
  readonly leftOut?: number;
  /** With `everywhere`: the servers whose models are missing, with a sentence each. */
  readonly problems?: readonly { readonly server: string; readonly message: string }[];
}

/** Client to daemon: the installed models, newest first. */
export const listModelsRequest: RequestMessage<ListModelsParams, ListModelsResult> = {
  method: 'runner/models/list',
};

/** The model that answers when a conversation begins and nobody has named one. */
export interface ChatModelResult {
  /** Absent if no model may be picked: none can chat, or all that can chat run elsewhere. */
  readonly model?: Model;
  /** Why it was picked: the setting `chatModel`, the user's last choice in any client, or what is available. */
  readonly from?: 'setting' | 'choice' | 'loaded' | 'newest';
  /** The model that `chatModel` names, if it is not installed or cannot chat. */
  readonly missing?: string;
}

/**
 * Client to daemon: which model answers. Clients ask when a conversation begins. Without a `server` it may be one of
 * any server, with a name as for `everywhere`; a model of another server than the one at `host` counts if it was
 * chosen, or if that has none.
 */
export const chatModelRequest: RequestMessage<ServerParams, ChatModelResult> = {
  method: 'runner/models/chatModel',
};

/** Client to daemon: the user chose this model to chat with, or it answered. Clients remember it; `""` forgets. */
export const chooseChatModelRequest: RequestMessage<ModelParams, Record<string, never>> = {
  method: 'runner/models/choose',
};

/** Client to daemon: the models that are loaded now. */
export const runningModelsRequest: RequestMessage<ServerParams, { readonly models: readonly Model[] }> = {
  method: 'runner/models/running',
};

export interface ModelParams extends ServerParams {
  readonly model: string;
}

export interface ShowModelResult {
  readonly model: Model;
  readonly template?: string;
  /** By name: a value, or an array if the parameter is repeated. */
  readonly parameters?: Readonly<Record<string, ParameterValue | readonly ParameterValue[]>>;
  readonly system?: string;
  readonly license?: string;
  readonly modelfile?: string;
}

export type ParameterValue = string | number | boolean;

/** Client to daemon: everything about one model. */
export const showModelRequest: RequestMessage<ModelParams, ShowModelResult> = {
  method: 'runner/models/show',
};

export interface CatalogParams extends ServerParams {
  readonly query?: string;
  readonly refresh?: boolean;
  /** Answers with the list that is kept, however old it is, and asks no catalog. */
  readonly cached?: boolean;
}

export interface CatalogEntry {
  /** The name in the catalog. */
  readonly name: string;
  /** The name to pull. For a cloud model it has the runner's suffix, such as `gpt-oss:120b-cloud`. */
  readonly model: string;
  readonly description?: string;
  readonly capabilities?: readonly string[];
  /** Such as `8b`. */
  readonly sizes?: readonly string[];
  readonly url: string;
  readonly family: string;
  /** True if `model` is installed, or, for a name without a tag, any tag of it. */
  readonly installed: boolean;
}

export interface CatalogResult {
  readonly entries: readonly CatalogEntry[];
  /** @format date-time */
  readonly fetchedAt: string;
  readonly stale?: true;
}

/** Client to daemon: the public library. */
export const libraryRequest: RequestMessage<CatalogParams, CatalogResult> = {
  method: 'runner/models/library',
};

/** Client to daemon: the cloud models. */
export const cloudRequest: RequestMessage<CatalogParams, CatalogResult> = { method: 'runner/models/cloud' };

/** As it would stand in `catalogUrl`. */
export interface ProbeCatalogParams {
  readonly url: string;
}

/** Client to daemon: ask whether a catalog answers at an address that is not in the settings yet. */
export const probeCatalogRequest: RequestMessage<ProbeCatalogParams, Readonly<Record<string, never>>> = {
  method: 'runner/models/probeCatalog',
};

export type PullModelParams = ModelParams & WorkDoneParams;

/** Client to daemon: download a model. Two pulls of one model share one download. */
export const pullModelRequest: RequestMessage<PullModelParams, { readonly model: string }> = {
  method: 'runner/models/pull',
};

export interface CreateModelParams extends ModelParams, WorkDoneParams {
  /** The absolute path of a Modelfile; relative paths in it start from its folder. */
  readonly path?: string;
  /** The text of a Modelfile; it may hold only names and absolute paths. */
  readonly text?: string;
}

/** Client to daemon: create a model from a Modelfile; either `path` or `text` is given. */
export const createModelRequest: RequestMessage<CreateModelParams, { readonly model: string }> = {
  method: 'runner/models/create',
};

export interface RunModelParams extends ModelParams {
  readonly keepAlive?: string | number;
}

/** Client to daemon: load a model. */
export const runModelRequest: RequestMessage<RunModelParams, { readonly model: Model }> = {
  method: 'runner/models/run',
};

/** Client to daemon: unload a model; answered once it is gone. */
export const stopModelRequest: RequestMessage<ModelParams, Record<string, never>> = {
  method: 'runner/models/stop',
};

export interface DeleteModelParams extends ModelParams {
  /** True stops a running model first; otherwise a running model is the error `busy`. */
  readonly stop?: boolean;
}

/** Client to daemon: remove a model from the disk. */
export const deleteModelRequest: RequestMessage<DeleteModelParams, Record<string, never>> = {
  method: 'runner/models/delete',
};

/**
 * Daemon to client: the models changed. It is sent within 2 s of any pull, create, delete, run, stop or unload, and of
 * a list or a chat that shows that another program changed them.
 */
export const modelsDidChange: NotificationMessage<Record<string, never>> = {
  method: 'runner/models/didChange',
};

/** Whether a model may be asked to chat. If its server does not say, a name that means embedding rules it out. */
export function canChat({ capabilities: { completion, embedding } }: Model): boolean {
  return completion.value !== false && !(completion.value === 'unknown' && embedding.value === true);
}

/**
 * The model that answers when the user has chosen none. Of the models that can chat, a loaded one comes first, then the
 * first in the list, which is the newest. Models of other servers count only if the default server has none. A model
 * that runs on another host is never picked, since the user must choose it; without others the result is undefined.
 */
export function preferredModel(models: readonly Model[]): Model | undefined {
  const own = models.filter((model) => canChat(model) && !model.remote);
  const here = own.filter(({ server }) => server === defaultServerName);
  const able = here.length > 0 ? here : own;
  return able.find(({ running }) => running !== undefined) ?? able[0];
}
