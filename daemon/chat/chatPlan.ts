import { withoutUndefined } from '../../protocol/base/json.ts';
import {
  type ChatParams,
  contextTags,
  type Message,
  type Notice,
  type Tool,
} from '../../protocol/messages/chat.ts';
import type { Capability, CapabilityName } from '../../protocol/messages/models.ts';
import { type ModelCapabilities, modelId } from '../models/modelCapabilities.ts';
import type { ChatRequest, Runner, ServerFacts } from '../runner/runner.ts';
import { stripThinkingQuotes } from './formatting.ts';
import { contextBlocks, inStrictOrder, placeContext } from './messageOrder.ts';

/**
 * What a chat sends after the rules on context, images and thinking are applied. Whether the tools are sent is decided
 * later.
 */
export interface Plan {
  readonly messages: readonly Message[];
  readonly tools: readonly Tool[];
  /** The answer must be a call of one of the tools. */
  readonly mustCall?: true;
  readonly think?: ChatParams['think'];
  readonly notices: readonly Notice[];
}

/** The names of the elements that are context in this chat. */
export function contextNames(params: ChatParams): readonly string[] {
  return [...contextTags, ...(params.contextTags ?? [])];
}

/** What a model may echo: the context of this request, and the results of tools. The user's own words are neither. */
export function sentContext(params: ChatParams) {
  const { messages, context } = params;
  const names = new Set(context === 'leading' ? contextNames(params) : []);
  return {
    blocks: messages.flatMap((message) => contextBlocks(message, names)),
    results: messages.flatMap(({ role, content }) => (role === 'tool' ? [content] : [])),
  };
}

/** Whether the answer begins inside thinking if the template opens it. A format leaves no room for thinking. */
export function mayStartInThinking({ think, format }: ChatParams): boolean {
  return think !== false && format === undefined;
}

/**
 * The capabilities of the model that must be known before this chat. If the runner does not report thinking, it is
 * asked about the model, and so its template is known too. A server that would drop tools in silence is asked about
 * them.
 */
export function neededCapabilities(
  { messages, tools, toolChoice }: ChatParams,
  { dropsTools }: ServerFacts,
): readonly CapabilityName[] {
  const hasImages = messages.some(({ images }) => images?.length);
  const mustKnowTools = dropsTools && toolChoice !== 'none' && tools?.length;
  return [
    'thinking',
    ...(hasImages ? ['vision' as const] : []),
    ...(mustKnowTools ? ['tools' as const] : []),
  ];
}

interface PlanSources {
  readonly knowledge: ModelCapabilities;
  /** The model has just refused to think. */
  readonly refusesThinking: boolean;
}

export function planChat(
  params: ChatParams,
  { server, facts }: Runner,
  { knowledge, refusesThinking }: PlanSources,
): Plan {
  const { model } = params;
  const requiresCalls = facts.requiresCalls === true;
  // Images are sent to a model of which nobody knows whether it can see.
  const blind = knowledge.visionByModelId.get(modelId(server, model)) === false;
  const notices: Notice[] = [];
  const tools = params.toolChoice === 'none' ? [] : (params.tools ?? []);
  const wantsCall = params.toolChoice === 'required' && tools.length > 0;
  if (wantsCall && !requiresCalls) {
    notices.push({
      code: 'tool-choice-ignored',
      message: 'The runner cannot force a tool call, so the model decides by itself.',
    });
  }
  if (blind && bringsImages(params.messages)) {
    notices.push({
      code: 'images-dropped',
      message: `${model} cannot see images, so they were left out. Choose a model with vision to ask about them.`,
    });
  }
  const thinking = knowledge.capability(server, model, 'thinking');
  const mayThink = isReported(thinking) || (facts.triesUnknown === true && thinking.value !== false);
  const canThink = mayThink && !refusesThinking;
  if (params.think && !canThink) {
    notices.push({
      code: 'thinking-unsupported',
      message: `${model} has no thinking mode, so it was asked without thinking.`,
    });
  }
  const isLevel = typeof params.think === 'string' && knowledge.about(server, model).thinkingLevels === false;
  if (isLevel && canThink) {
    notices.push({
      code: 'thinking-unsupported',
      message: `${model} has no levels of thinking, so it thinks as much as it usually does.`,
    });
  }
  return {
    messages: conversationOf(params, blind),
    tools,
    ...(wantsCall && requiresCalls && { mustCall: true }),
    notices,
    ...(params.think !== undefined && canThink ? { think: isLevel || params.think } : {}),
  };
}

/** Whether the newest prompt, or a tool since then, has images. Earlier images had their notice already. */
function bringsImages(messages: readonly Message[]): boolean {
  const prompt = messages.findLastIndex(({ role }) => role === 'user');
  return messages.slice(Math.max(0, prompt)).some(({ images }) => images?.length);
}

/**
 * A name that suggests thinking says how an answer looks, not what a request may ask for: the runner refuses `think` if
 * the model lacks the capability.
 */
function isReported({ value, from }: Capability): boolean {
  return value === true && from !== 'name';
}

function conversationOf(params: ChatParams, blind: boolean): readonly Message[] {
  const names = new Set(params.context === 'leading' ? contextNames(params) : []);
  const placed = placeContext(params.messages, names);
  // The chat may have used another format when these messages were written.
  const replayed = placed.map((message) =>
    message.role === 'assistant' ? { ...message, content: stripThinkingQuotes(message.content) } : message,
  );
  return inStrictOrder(blind ? replayed.map(({ images: _, ...message }) => message) : replayed);
}

/** What the user asked for takes precedence over the defaults of the configuration. */
export function requestOf(
  { model, options, format, keepAlive: asked }: ChatParams,
  { messages, tools, mustCall, think }: Plan,
  { keepAlive, contextLength }: { readonly keepAlive?: string | number; readonly contextLength?: number },
): ChatRequest {
  return withoutUndefined({
    ...{ model, messages, tools, think, options, format, contextLength },
    mustCall: tools.length > 0 ? mustCall : undefined,
    keepAlive: asked ?? keepAlive,
  });
}

export function askedWindow({ options }: ChatParams): number | undefined {
  const asked = options?.['num_ctx'];
  return typeof asked === 'number' && asked > 0 ? asked : undefined;
}
