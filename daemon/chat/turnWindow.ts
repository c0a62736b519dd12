import type { ChatParams, ClearedParts, Message, Tool } from '../../protocol/messages/chat.ts';
import { type ModelCapabilities, modelId } from '../models/modelCapabilities.ts';
import type { Runner } from '../runner/runner.ts';
import { createRemovals, type Removals } from './removals.ts';

/** The window in which a turn with tools takes place. */
export interface TurnWindow {
  /** In tokens; undefined if nobody knows it. */
  readonly tokens: number | undefined;
  /** `num_ctx` for each round, where nobody has configured a window and the server takes one per request. */
  readonly asked?: number;
  /** It is asked because the model has less by itself. */
  readonly isRaised?: boolean;
  /** The most that the model can have, if that is known and a request can change the window. */
  readonly maximum?: number;
  /** No request changes it. */
  readonly isFixed: boolean;
  /** The model's own system message, which its server drops if another one is sent. */
  readonly system?: string;
  /** What was removed from the prompts of this conversation. */
  readonly removals: Removals;
  /** The tokens of a prompt. */
  estimate(messages: readonly Message[], tools: readonly Tool[]): number;
  /** The characters of so many tokens. */
  characters(tokens: number): number;
}

/** Of a turn without tools, whose window nobody needs to know. */
export function unknownWindow(): TurnWindow {
  const removals = createRemovals();
  return { tokens: undefined, isFixed: false, removals, estimate: () => 0, characters: () => 0 };
}

/** `asks`: the turn is that of an agent, which needs a window of some size. Otherwise nothing is asked. */
export type FindWindow = (
  runner: Runner,
  params: ChatParams,
  options: { readonly asks: boolean; readonly signal: AbortSignal },
) => Promise<TurnWindow>;

interface WindowSources {
  /** What the file of a kept conversation says was removed from its prompts. */
  readonly clearedIn?: (session: string) => Promise<ClearedParts | undefined>;
  readonly knowledge: ModelCapabilities;
  readonly estimate: TokenEstimate;
  /** `agentContext` is the window that an agent asks for, in tokens. */
  readonly defaults: () => { readonly contextLength?: number; readonly agentContext: number };
}

/** How many conversations are remembered. The one that was used longest ago is forgotten first. */
const maxConversations = 256;

export function createWindows({ clearedIn, knowledge, estimate, defaults }: WindowSources): FindWindow {
  const conversations = new Map<string, Removals>();
  const removalsOf = async (key: string) => {
    const known = conversations.get(key);
    const removals = known ?? createRemovals(await clearedIn?.(key));
    conversations.delete(key);
    conversations.set(key, removals);
    const [oldest] = conversations.keys();
    if (conversations.size > maxConversations && oldest !== undefined) conversations.delete(oldest);
    return removals;
  };

  return async (runner, params, { asks, signal }) => {
    const { session, agent } = params;
    const { server } = runner;
    const { model } = params;
    if (asks) await learn(runner, { model, knowledge, signal });
    const id = modelId(server, model);
    const system = knowledge.system(server, model);
    const isRemote = knowledge.isRemote(server, model);
    const context = knowledge.context(server, model);
    const { contextLength, agentContext } = defaults();
    const asked = Number(params.options?.['num_ctx'] ?? 0) || contextLength;
    const isFixed = runner.facts.hasFixedWindows === true;
    return {
      ...chosenWindow(context, { asks, isRemote, asked, agentContext, isFixed }),
      ...(system === undefined ? {} : { system }),
      // Without an id, only the client knows which conversation it is.
      removals: session === undefined ? createRemovals(agent?.cleared) : await removalsOf(session),
      estimate: (messages, tools) => estimate.estimate(id, promptSizeOf(messages, tools)),
      characters: (tokens) => estimate.characters(id, tokens),
    };
  };
}

interface Choice {
  readonly asks: boolean;
  readonly isFixed: boolean;
  readonly isRemote: boolean;
  /** By the request or the configuration. */
  readonly asked: number | undefined;
  /** Of an agent, if nobody has chosen one. */
  readonly agentContext: number;
}

function chosenWindow(
  { allocated, configured, maximum }: ReturnType<ModelCapabilities['context']>,
  { asks, isFixed, isRemote, asked, agentContext }: Choice,
): Pick<TurnWindow, 'tokens' | 'asked' | 'isRaised' | 'maximum' | 'isFixed'> {
  const most = maximum === undefined ? {} : { maximum };
  if (isFixed) return { tokens: allocated, isFixed };
  const wanted = asked ?? configured;
  const within = (tokens: number) => Math.min(tokens, maximum ?? tokens);
  if (wanted !== undefined) return { tokens: within(wanted), isFixed, ...most };
  if (isRemote) return { tokens: maximum, isFixed, ...most };
  if (!asks) return { tokens: allocated, isFixed, ...most };
  // A model that is loaded with a larger window stays loaded.
  const isRaised = allocated === undefined || allocated < within(agentContext);
  const tokens = isRaised ? within(agentContext) : allocated;
  return { tokens, asked: tokens, isRaised, isFixed, ...most };
}

/** How long the runner may take to say what it has loaded and what its model is, in ms. */
const learnWithin = 1_000;

/** What cannot be learnt stays unknown. */
async function learn(
  runner: Runner,
  { model, knowledge, signal }: { model: string; knowledge: ModelCapabilities; signal: AbortSignal },
): Promise<void> {
  const { server } = runner;
  const limited = AbortSignal.any([signal, AbortSignal.timeout(learnWithin)]);
  const show = async () => {
    if (!knowledge.isShown(server, model))
      knowledge.learnShown(server, model, await runner.show(model, limited));
  };
  const running = async () => knowledge.learnRunning(server, await runner.running(limited));
  await Promise.allSettled([show(), running()]);
  signal.throwIfAborted();
}

/** Characters for each token, until the runner has counted: between English prose (4.3) and code (3.2). */
const usualRatio = 3.8;
/** What an image costs in models that run locally, in tokens. */
const tokensPerImage = 600;

export type TokenEstimate = ReturnType<typeof createTokenEstimate>;

type CountedSize = Pick<PromptSize, 'characters' | 'images'>;

export interface PromptSize {
  readonly characters: number;
  /** How many of the characters describe tools. */
  readonly inTools: number;
  readonly images: number;
}

/** Estimates how many tokens a prompt has, from its characters. Each real count corrects the ratio for its model. */
export function createTokenEstimate() {
  const ratios = new Map<string, number>();
  return {
    estimate: (id: string, { characters, images }: CountedSize) =>
      Math.ceil(characters / (ratios.get(id) ?? usualRatio)) + images * tokensPerImage,
    /** The characters of a text of so many tokens. */
    characters: (id: string, tokens: number) => tokens * (ratios.get(id) ?? usualRatio),
    /** The runner counted `tokens` for this prompt. */
    calibrate(id: string, { characters, images }: CountedSize, tokens: number): void {
      // Short prompts are mostly template, and the share of the text is unknown beside images, so neither is used.
      if (images > 0 || tokens < 50) return;
      const measured = Math.min(Math.max(characters / tokens, 0.5), 12);
      const before = ratios.get(id);
      ratios.set(id, before === undefined ? measured : before * 0.5 + measured * 0.5);
    },
  };
}

/** An estimate for a text or a picture of which no model is known. */
export function usualTokens({ characters, images }: CountedSize): number {
  return Math.ceil(characters / usualRatio) + images * tokensPerImage;
}

/** The size of everything in a request that becomes part of the prompt. */
export function promptSizeOf(messages: readonly Message[], tools: readonly Tool[]): PromptSize {
  const inMessages = messages.reduce((sum, message) => sum + charactersOf(message), 0);
  const inTools = tools.length === 0 ? 0 : JSON.stringify(tools).length;
  const images = messages.reduce((sum, message) => sum + (message.images?.length ?? 0), 0);
  return { characters: inMessages + inTools, inTools, images };
}

function charactersOf({ content, thinking, toolCalls }: Message): number {
  const calls = toolCalls?.length ? JSON.stringify(toolCalls).length : 0;
  return content.length + (thinking?.length ?? 0) + calls + 8;
}
