import type { Readable } from 'node:stream';
import type { ChatParams, Message, Tool } from '../../protocol/messages/chat.ts';
import type { CapabilityName, LoadingState } from '../../protocol/messages/models.ts';
import { type Ability, type Product, refusalOf } from '../../protocol/messages/status.ts';
import { RunnerError } from '../base/errors.ts';
import type { Turns } from './chatTemplate.ts';

/** One configured runner: its name and its address. Its secret is looked up by origin. */
export interface Server {
  readonly name: string;
  /** Base address without a trailing slash. */
  readonly url: string;
  readonly caFile?: string;
  /** Which wire it speaks; it is asked if this is absent. */
  readonly api?: 'ollama' | 'openai';
}

/**
 * What a runner can do for the daemon, in the protocol's own terms. One room for each wire implements it: nothing
 * outside of that room knows a path, a field or an error text. What the server lacks is absent. Failures are
 * `RunnerError`s; an abort is thrown unchanged and closes the socket. Answers are validated and bounded.
 */
export interface Runner {
  readonly server: Server;
  readonly facts: ServerFacts;
  /** Asks whether it answers, and its version. */
  identify(signal: AbortSignal): Promise<Identity>;
  /** The installed models. */
  list(signal: AbortSignal): Promise<ModelList>;
  /** The loaded models; none if the runner cannot say. */
  running(signal: AbortSignal): Promise<readonly ListedModel[]>;
  show(model: string, signal: AbortSignal): Promise<ShownModel>;
  /** Streams an answer, one batch of parts for each read. Throws unless the last part is `done`. */
  chat(request: ChatRequest, signal: AbortSignal): AsyncGenerator<readonly ChatPart[]>;
  /** Streams the text for a gap. Throws unless the last part is `done`. */
  fill(request: FillRequest, signal: AbortSignal): AsyncGenerator<readonly FillPart[]>;
  /** The exact tokens of a chat's prompt. */
  count?(request: ChatRequest, signal: AbortSignal): Promise<number>;
  /** Waits until a model is loaded whose properties nobody knows before. `onWait` is called if it is not. */
  ready?(model: string, onWait: () => void, signal: AbortSignal): Promise<void>;
  load?(model: string, options: LoadOptions, signal: AbortSignal): Promise<void>;
  /** Asks for a model to be unloaded. A running answer may delay it. */
  unload?(model: string, signal: AbortSignal): Promise<void>;
  remove?(model: string, signal: AbortSignal): Promise<void>;
  /** Streams the progress of a download. Throws unless it succeeded. */
  pull?(model: string, signal: AbortSignal): AsyncGenerator<readonly WorkStep[]>;
  /** Makes a model from a Modelfile, and streams the progress. Throws unless it succeeded. */
  create?(request: CreateRequest, signal: AbortSignal): AsyncGenerator<readonly WorkStep[]>;
  /** Whether the runner has the bytes of this digest (`sha256:` and 64 hexadecimal digits). */
  hasBlob?(digest: string, signal: AbortSignal): Promise<boolean>;
  uploadBlob?(digest: string, upload: Upload, signal: AbortSignal): Promise<void>;
  close(): Promise<void>;
}

/** What answers at an address now. */
export interface Identity {
  readonly version?: string;
}

/** What differs between servers. It was found by asking, and holds until the connection is lost. */
export interface ServerFacts {
  readonly product: Product;
  readonly can: readonly Ability[];
  /** The names of its models follow no grammar. */
  readonly hasFreeNames?: true;
  /** Its windows are its own: no request changes them. */
  readonly hasFixedWindows?: true;
  /** It does not say what its models can do. What is not known is tried, and a refusal counts. */
  readonly triesUnknown?: true;
  /** It drops tools in silence if the model's template knows none. */
  readonly dropsTools?: true;
  /** It can hold a model to calling a tool. */
  readonly requiresCalls?: true;
}

/** A chat as it is sent: the rules on context, images, tools and thinking have been applied. */
export interface ChatRequest extends Pick<ChatParams, 'model' | 'think' | 'options' | 'format'> {
  readonly messages: readonly Message[];
  readonly tools: readonly Tool[];
  /** The answer must be a call. It is asked only of a server that can hold a model to it. */
  readonly mustCall?: true;
  /** Seconds or a duration for which the model stays loaded. */
  readonly keepAlive?: string | number;
  /** Tokens of the window, unless `options` ask for another one. */
  readonly contextLength?: number;
}

/** A part of an answer. Absent counts are 0. */
export interface ChatPart {
  readonly content: string;
  readonly thinking: string;
  readonly toolCalls: readonly CallPart[];
  /** Calls whose arguments are no JSON. */
  readonly malformed?: readonly UnreadCall[];
  /** Nothing is written yet: what the request waits for. Sent before any text. */
  readonly waitsFor?: WaitReason;
  /** Nothing is written yet: the tools whose schemas the server refused, so that simpler ones were sent. */
  readonly simplified?: readonly string[];
  readonly done: boolean;
  readonly doneReason?: string;
  readonly promptTokens: number;
  readonly completionTokens: number;
}

/** What a request waits for: another answer to end, or a model to be loaded. */
export type WaitReason = 'slot' | 'loading';

/** A whole call of a tool. */
export interface CallPart {
  readonly id?: string;
  readonly name: string;
  readonly arguments: Readonly<Record<string, unknown>>;
}

/** A call whose arguments are no JSON. */
export interface UnreadCall extends Omit<CallPart, 'arguments'> {
  /** The arguments, as the model wrote them. */
  readonly text: string;
}

/** A gap in a text. A prompt that the runner would have to cut is refused. */
export interface FillRequest {
  readonly model: string;
  /**
   * Either the whole prompt, written in the tokens of the model's family, or the texts around the gap, which the runner
   * puts into the model's own template.
   */
  readonly text: { readonly prompt: string } | { readonly prefix: string; readonly suffix: string };
  /** If it is empty, the model's own stops apply. */
  readonly stops: readonly string[];
  readonly maxTokens: number;
  readonly temperature: number;
  readonly keepAlive?: string | number;
  readonly contextLength?: number;
}

export interface FillPart {
  readonly text: string;
  readonly done: boolean;
  readonly doneReason?: string;
}

export interface LoadOptions {
  /** Seconds or a duration. */
  readonly keepAlive?: string | number;
  /** Tokens of the window to allocate. */
  readonly contextLength?: number;
  /** The model only embeds. If that is not known, the runner is asked for a chat first. */
  readonly onlyEmbeds?: boolean;
  /** Called when the list shows that the load has begun, or has come further. */
  readonly onProgress?: () => void;
}

/** An installed or loaded model. Fields that are missing or have a wrong type are left out. */
export interface ListedModel {
  readonly name: string;
  readonly size?: number;
  readonly digest?: string;
  /** Where there is no digest: it changes when another model, or another template, gets this name. */
  readonly mark?: string;
  readonly modifiedAt?: string;
  readonly expiresAt?: string;
  readonly sizeVram?: number;
  /** For a loaded model: the allocated window. */
  readonly allocatedContext?: number;
  readonly maximumContext?: number;
  readonly family?: string;
  readonly parameterSize?: string;
  readonly quantization?: string;
  readonly capabilities?: readonly string[];
  /** What the server says that it cannot do. It says nothing about the rest. */
  readonly lacks?: readonly CapabilityName[];
  readonly remoteHost?: string;
  readonly remoteModel?: string;
  /** Set while it is being loaded. */
  readonly loading?: LoadingState;
}

/** The part of a runner's list that is used. */
export interface ModelList {
  readonly models: readonly ListedModel[];
  /** The number of entries beyond the limit. */
  readonly leftOut: number;
}

/** Everything that a runner says about one model. */
export interface ShownModel {
  /** The runner knows the rest only once the model is loaded. */
  readonly isPartial?: true;
  readonly capabilities?: readonly string[];
  readonly maximumContext?: number;
  /** The window that its Modelfile asks for. */
  readonly configuredContext?: number;
  /** Text with one parameter on each line. */
  readonly parameters?: string;
  readonly template?: string;
  readonly turns?: Turns;
  /** True if its template ends in an open thinking tag, and the runner leaves the thinking in the text. */
  readonly opensThinking?: true;
  /** True if the runner leaves calls of tools in the text, as the model wrote them. */
  readonly leavesCalls?: true;
  readonly system?: string;
  readonly license?: string;
  readonly modelfile?: string;
  readonly family?: string;
  readonly parameterSize?: string;
  readonly quantization?: string;
  readonly modifiedAt?: string;
  readonly remoteHost?: string;
  readonly remoteModel?: string;
}

/** A step of a download or of a creation. */
export interface WorkStep {
  readonly status: string;
  /** In a step about one layer, or about a file, which has a name instead. */
  readonly digest?: string;
  /** Bytes. */
  readonly total?: number;
  readonly completed?: number;
}

/** The digests of files, by their relative names: `sha256:` and 64 hexadecimal digits. */
export type Digests = Readonly<Record<string, string>>;

/** What a Modelfile says, with the digests of its files. */
export interface CreateRequest {
  readonly model: string;
  readonly from?: string;
  readonly files: Digests;
  readonly adapters: Digests;
  readonly drafts: Digests;
  readonly parameters: Readonly<Record<string, unknown>>;
  readonly template?: string;
  readonly system?: string;
  readonly renderer?: string;
  readonly parser?: string;
  readonly requires?: string;
  readonly license: readonly string[];
  readonly messages: readonly { readonly role: string; readonly content: string }[];
}

/** A file's bytes on their way to the runner. */
export interface Upload {
  readonly bytes: number;
  readonly stream: Readable;
}

/** The ability that a runner lacks if it lacks the member. */
const abilityOf = {
  load: 'load',
  unload: 'unload',
  remove: 'delete',
  pull: 'pull',
  create: 'create',
  hasBlob: 'create',
  uploadBlob: 'create',
} as const;

/** @throws {RunnerError} `not-supported` with the ability as its `capability`, if the runner lacks a member. */
export function requireMembers<K extends keyof typeof abilityOf>(
  runner: Runner,
  ...names: readonly K[]
): asserts runner is Runner & Required<Pick<Runner, K>> {
  for (const name of names) if (runner[name] === undefined) throw refusal(runner, abilityOf[name]);
}

/** @throws {RunnerError} `not-supported`, if the runner lacks the ability. */
export function requireAbility(runner: Runner, ability: Ability): void {
  if (!runner.facts.can.includes(ability)) throw refusal(runner, ability);
}

/** The error for an ability that a runner lacks. */
export function refusal(
  { facts: { product }, server }: Pick<Runner, 'facts' | 'server'>,
  capability: Ability,
): RunnerError {
  return new RunnerError('not-supported', refusalOf(product, capability, server.url), {
    details: { capability, server: server.name },
  });
}

/** Reasons for the end of a whole answer, as servers name them. An empty one comes from servers that name none. */
const whole =
  /^(?:|stop|stop_sequence|end_turn|eos|eos_token|word|none|tool_calls?|tool_use|function_call|load|unload)$/i;
/** Reasons for an end at a limit, such as `length`, `model_length`, `max_tokens` and `limit`. */
const cut = /length|max_|^limit$/i;

/** Why an answer ended: it is whole, it was cut at a limit, or it was broken off for the reason that is returned. */
export function endOf(reason: string): string {
  if (whole.test(reason)) return 'stop';
  return cut.test(reason) ? 'length' : reason;
}

/** What a client reads about an answer that was broken off. */
export function brokenOff(reason: string): string {
  const short = reason.replace(/\s+/g, ' ').slice(0, 64);
  return /filter|safety|refus/i.test(reason)
    ? `A filter of the runner stopped the answer (${short}). Ask in other words.`
    : `The runner broke the answer off (${short}). Ask again; if it happens again, look at the runner log.`;
}
