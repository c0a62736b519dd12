import { count, formatBytes } from '../base/text.ts';
import type { RequestMessage, WorkDoneParams } from './messageTypes.ts';

/** What Runner can start: its own engine, or a program that the user has installed. */
export type EngineProduct = 'runner-engine' | 'llama.cpp' | 'ollama';

/** How a product is called in a sentence. */
export const engineNames: Readonly<Record<EngineProduct, string>> = {
  'runner-engine': "Runner's own engine",
  'llama.cpp': 'llama-server',
  ollama: 'Ollama',
};

type NoParams = Readonly<Record<string, never>>;

/** What was started here; there is at most one for a user. */
export interface EngineStatus {
  /** `down`: it ended by itself, and was not started again. */
  readonly state: 'running' | 'stopped' | 'down';
  /** A sentence for the user. */
  readonly message: string;
  readonly product?: EngineProduct;
  readonly url?: string;
  /** The name under which it has its model. Absent for Ollama. */
  readonly model?: string;
  /** Tokens of its window, if it said so. */
  readonly context?: number;
  /** Whether the library of the engine is installed. */
  readonly isInstalled: boolean;
  /** The path of the sample, if that was fetched. */
  readonly sample?: string;
}

/** Client to daemon: what was started here, and what is installed for it. */
export const engineStatusRequest: RequestMessage<NoParams, EngineStatus> = { method: 'runner/engine/status' };

/** A program on this machine that is installed and can be started. It said itself what it is. */
export interface InstalledProgram {
  readonly product: Exclude<EngineProduct, 'runner-engine'>;
  readonly path: string;
  readonly version: string;
}

/** Something that can be fetched, once the user agrees. */
export interface Fetchable {
  readonly isThere: boolean;
  /** Bytes. */
  readonly bytes: number;
  /** From where, such as `the npm registry https://registry.npmjs.org/`. */
  readonly from: string;
  /** Such as `MIT (98), ISC (13)`. */
  readonly licenses: string;
  /** How many packages. */
  readonly packages: number;
  /** Where it goes. */
  readonly folder: string;
  /** Why it cannot be fetched here, and what else there is. */
  readonly problem?: string;
}

/** What a user should know before it is fetched. */
export function describeFetch({ bytes, packages, licenses, from, folder }: Fetchable): string {
  return `This fetches about ${formatBytes(bytes)} (${count(packages, 'package')}; licenses: ${licenses}) from ${from}, into ${folder}.`;
}

/** Said where the small model is offered. */
export const sampleWarning =
  'The small model (SmolLM2, 135M parameters) is real, but its answers are often wrong.';

/** What a way fetches before it starts anything, once the user agrees: by `runner/engine/install` or `…/sample`. */
export interface EngineFetch {
  readonly what: 'library' | 'sample';
  /** Bytes. */
  readonly bytes: number;
  /** What the user should know before, in sentences: how much, under which licenses, from where and where to. */
  readonly description: string;
}

/** One way to a model that answers. */
export interface EngineWay {
  /** For a list, such as `start Ollama 0.31.4, which is installed`. */
  readonly label: string;
  /** In this order. Empty: everything is there. */
  readonly fetches: readonly EngineFetch[];
  /** What the user should know about the model, as a sentence. */
  readonly warning?: string;
  /** Parameters of `runner/engine/start`. */
  readonly start: { readonly product: EngineProduct; readonly model?: string };
}

export interface EngineOffers {
  readonly programs: readonly InstalledProgram[];
  /** The library that runs models. */
  readonly library: Fetchable;
  /** The small model. */
  readonly sample: Fetchable;
  /** What to offer to a user who has no runner, the most capable one first; at most one of each product. */
  readonly ways: readonly EngineWay[];
}

/** Client to daemon: what could be started or fetched. Programs are run with `--version`; nothing else is. */
export const engineOffersRequest: RequestMessage<NoParams, EngineOffers> = { method: 'runner/engine/offers' };

export interface EngineModelsParams {
  /** An absolute path of a file or a folder to look into as well. */
  readonly path?: string;
}

/** A file with weights (GGUF) on this machine. */
export interface EngineModel {
  /** Such as `llama3.2:3b`, or the name of its file without the ending. */
  readonly name: string;
  readonly path: string;
  /** Bytes. */
  readonly size: number;
  /** Whether it fits into the memory, with a small window. */
  readonly fits: boolean;
  /** Whose folder it is in. */
  readonly source:
    | 'path'
    | 'sample'
    | 'Ollama'
    | 'Hugging Face'
    | 'LM Studio'
    | 'llama.cpp'
    | 'Jan'
    | 'GPT4All';
}

/** Client to daemon: the models on this machine that the engine could load. */
export const engineModelsRequest: RequestMessage<
  EngineModelsParams,
  {
    readonly models: readonly EngineModel[];
    /** A folder had more than the search looks at. */
    readonly isCut?: true;
  }
> = { method: 'runner/engine/models' };

/** Client to daemon: install the library of the engine. The user has agreed. */
export const engineInstallRequest: RequestMessage<WorkDoneParams, { readonly folder: string }> = {
  method: 'runner/engine/install',
};

/** Client to daemon: fetch the small model. The user has agreed. */
export const engineSampleRequest: RequestMessage<WorkDoneParams, { readonly path: string }> = {
  method: 'runner/engine/sample',
};

export interface EngineStartParams extends WorkDoneParams {
  /** Absent: the engine if it is installed, or else llama-server. */
  readonly product?: EngineProduct;
  /** The absolute path of a file, or a name of `runner/engine/models`. Absent: the last one, or else the sample. */
  readonly model?: string;
  /** Tokens of the window. */
  readonly context?: number;
  readonly threads?: number;
  /** True: it runs until `runner/engine/stop`. Otherwise as long as a daemon uses it. */
  readonly keep?: boolean;
}

/**
 * Client to daemon: start it; answered once it is ready. One that runs already with what is asked for is used. Another
 * one is ended first.
 */
export const engineStartRequest: RequestMessage<EngineStartParams, EngineStatus> = {
  method: 'runner/engine/start',
};

/** Client to daemon: end it; answered once it is gone. */
export const engineStopRequest: RequestMessage<NoParams, { readonly wasRunning: boolean }> = {
  method: 'runner/engine/stop',
};

/** Client to daemon: delete the library and the sample. */
export const engineRemoveRequest: RequestMessage<NoParams, { readonly wasThere: boolean }> = {
  method: 'runner/engine/remove',
};
