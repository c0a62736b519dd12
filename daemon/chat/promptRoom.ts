import type { ChatParams, ClearedParts, Message, Notice, Tool } from '../../protocol/messages/chat.ts';
import { minAgentContext } from '../../protocol/messages/initialize.ts';
import { builtinServer } from '../../protocol/messages/tools.ts';
import { adviseOnWindow, RunnerError } from '../base/errors.ts';
import type { CallBounds, DaemonTool, DaemonToolOffer } from './daemonTools.ts';
import { placeRules, type RulesFile } from './projectRules.ts';
import { clearedParts, makeRoom, withoutRemoved } from './removals.ts';
import type { TurnWindow } from './turnWindow.ts';

/** Below it an agent works badly, in tokens. */
const smallWindow = 6_144;
/** A window with which an agent works. */
const goodWindow = 16_384;
/** No result has more characters, however large the window is. */
const maxCharacters = 32_000;
/** Whatever is left of the window, a note still fits. */
const leastCharacters = 300;

/** How the prompts of a turn fit into the window of their model: what is sent, and how long results may be. */
export class PromptRoom {
  readonly #window: TurnWindow;
  readonly #params: ChatParams;
  /** What stands before the messages of the conversation. */
  readonly #lead: readonly Message[];
  /** The tools of the daemon that the model is offered. */
  readonly tools: readonly DaemonTool[];
  readonly notices: readonly Notice[];

  /** @throws {RunnerError} `context-exceeded`, if the window is too small for an agent. */
  constructor(window: TurnWindow, offer: DaemonToolOffer, params: ChatParams) {
    this.#window = window;
    this.#params = params;
    const { instructions, rules } = offer;
    const isAgent = instructions !== undefined;
    const isSmall = isAgent && (window.tokens ?? smallWindow) < smallWindow;
    const placed = isAgent && rules && !isSmall ? placeRules(rules, window) : undefined;
    const system = [instructions, isAgent ? window.system : undefined, placed?.content];
    this.#lead = system.flatMap((content) => (content ? [{ role: 'system' as const, content }] : []));
    if (isAgent) requireWindow(window, params.model);
    const share = this.#shareOfTools(offer.tools);
    this.tools = share?.isTooLarge ? offer.tools.filter(isOurs) : offer.tools;
    this.notices = [
      ...(window.isRaised ? [raised(window, params.model)] : []),
      ...(isSmall ? [small(window, rules?.files)] : []),
      ...(placed?.notices ?? []),
      ...(share ? [tooLarge(share)] : []),
    ];
  }

  /** The options of each round: those of the user, and the window. */
  get options(): ChatParams['options'] {
    const { options } = this.#params;
    const { asked } = this.#window;
    return asked === undefined ? options : { ...options, num_ctx: asked };
  }

  /**
   * The messages of the next round. Old results are removed if there is no room for them.
   * @throws {RunnerError} `context-exceeded`, if there is no room left after a round.
   */
  messages(added: readonly Message[], tools: readonly Tool[]) {
    const { tokens, removals } = this.#window;
    const all = [...this.#params.messages, ...added];
    const sizeOf = (messages: readonly Message[]) =>
      this.#window.estimate([...this.#lead, ...messages], tools);
    const high = tokens === undefined ? Number.POSITIVE_INFINITY : highOf(tokens);
    const before = tokens === undefined ? 0 : sizeOf(withoutRemoved(all, removals));
    const tokensOf = (length: number) => length / this.#window.characters(1);
    const removed = makeRoom(all, removals, { sizeOf, tokensOf, high, low: (tokens ?? 0) / 2 });
    const kept = withoutRemoved(all, removals);
    const needed = tokens === undefined ? 0 : sizeOf(kept);
    if (tokens !== undefined && added.length > 0 && needed > tokens - reserveOf(tokens))
      throw noRoom(this.#window, needed);
    const notice = removed === 0 ? undefined : removedNotice(removed, before, needed);
    return { messages: [...this.#lead, ...kept], notice };
  }

  /** What is removed from the prompts by now; undefined if nothing is. */
  get cleared(): ClearedParts | undefined {
    return clearedParts(this.#window.removals);
  }

  /** Whether the result of a call is no longer in the prompt. */
  isRemoved(id: string): boolean {
    return this.#window.removals.results.has(id);
  }

  /** What the results of these calls may be together, divided among those that may be long. */
  boundsFor(
    calls: readonly (DaemonTool | undefined)[],
    added: readonly Message[],
    tools: readonly Tool[],
  ): CallBounds {
    const { tokens, characters, estimate, removals } = this.#window;
    if (tokens === undefined) return { characters: maxCharacters, replaceable: maxCharacters };
    const long = Math.max(1, calls.filter((tool) => !(tool && isOurs(tool) && isWriting(tool))).length);
    const prompt = estimate(
      [...this.#lead, ...withoutRemoved([...this.#params.messages, ...added], removals)],
      tools,
    );
    const together = Math.min(tokens / 3, tokens - reserveOf(tokens) - prompt);
    const one = Math.min(tokens / 5, together / long);
    const within = (size: number) =>
      Math.min(maxCharacters, Math.max(leastCharacters, Math.floor(characters(size))));
    return { characters: within(one), replaceable: within(tokens / 5) };
  }

  /** Undefined if the tools leave enough room. */
  #shareOfTools(tools: readonly DaemonTool[]): ToolsShare | undefined {
    const { tokens, estimate } = this.#window;
    if (tokens === undefined || tools.length === 0) return undefined;
    const fixed = estimate(this.#lead, tools);
    if (fixed <= tokens / 4) return undefined;
    const servers = [...new Set(tools.map(({ server }) => server))].map((server) => ({
      server,
      tokens: estimate(
        [],
        tools.filter((tool) => tool.server === server),
      ),
    }));
    return { fixed, window: tokens, servers, isTooLarge: fixed > tokens / 2 };
  }
}

function isOurs({ server }: DaemonTool): boolean {
  return server === builtinServer;
}

function isWriting({ annotations }: DaemonTool): boolean {
  return annotations?.readOnlyHint === false;
}

/** The room for an answer. */
function reserveOf(tokens: number): number {
  return Math.min(4_096, Math.max(1_024, tokens / 8));
}

/** A prompt above it loses its old results. A small window needs more of itself for the answer. */
function highOf(tokens: number): number {
  return Math.min((tokens * 3) / 4, tokens - reserveOf(tokens) - tokens / 8);
}

/** A window that works, as advice has it: 0 if the model can have none. */
function fittingFor({ isFixed, maximum = goodWindow }: TurnWindow): number {
  const fitting = Math.min(goodWindow, maximum);
  return isFixed || fitting < smallWindow ? 0 : fitting;
}

function requireWindow(window: TurnWindow, model: string): void {
  const { tokens } = window;
  if (tokens === undefined || tokens >= minAgentContext) return;
  const problem = `The built-in tools need a context window of ${minAgentContext} tokens at least, better ${goodWindow}, and ${model} has ${tokens}.`;
  const fitting = fittingFor(window);
  const text =
    fitting === 0
      ? 'Start the server with a larger window, or choose another model.'
      : `Set a context length of ${fitting}.`;
  throw new RunnerError('context-exceeded', `${problem} ${text}`, { details: { allocated: tokens } });
}

function raised({ tokens }: TurnWindow, model: string): Notice {
  return {
    code: 'window-asked',
    message: `${model} is asked for a context window of ${tokens} tokens, because the tools need room. Set another context length to change that.`,
  };
}

function small(window: TurnWindow, rules: readonly RulesFile[] = []): Notice {
  const fitting = fittingFor(window);
  const names = rules.map(({ name }) => name).join(' and ');
  const without = names === '' ? '' : ` The rules in ${names} are left out.`;
  const advice = fitting === 0 ? '' : ` Set a context length of ${fitting}.`;
  return {
    code: 'window-small',
    message: `The context window of ${window.tokens} tokens is small for work with files: old results are removed often.${without}${advice}`,
  };
}

interface ToolsShare {
  readonly fixed: number;
  readonly window: number;
  readonly servers: readonly { readonly server: string; readonly tokens: number }[];
  readonly isTooLarge: boolean;
}

function tooLarge({ fixed, window, servers, isTooLarge }: ToolsShare): Notice {
  const shares = servers
    .toSorted((a, b) => b.tokens - a.tokens)
    .map(({ server, tokens }) => `${server} ${tokens}`);
  const end = isTooLarge
    ? 'Those of tool servers are left out of this turn. Offer fewer, or set a larger context length.'
    : 'Offer fewer, or set a larger context length.';
  return {
    code: 'tools-too-large',
    message: `The tools take about ${fixed} of the ${window} tokens of the context window (${shares.join(', ')}). ${end}`,
  };
}

function removedNotice(removed: number, before: number, after: number): Notice {
  const what = removed === 1 ? 'One old result of a tool was' : `${removed} old results of tools were`;
  return {
    code: 'results-removed',
    message: `${what} removed from the prompt to save room: it has about ${after} tokens instead of ${before}.`,
  };
}

function noRoom(window: TurnWindow, needed: number): RunnerError {
  const { tokens: allocated, isFixed } = window;
  return new RunnerError(
    'context-exceeded',
    adviseOnWindow(
      `The prompt needs about ${needed} tokens and the context window holds ${allocated}, although everything old was removed.`,
      'shorten-prompt',
      isFixed ? 0 : undefined,
    ),
    { details: { needed, ...(allocated === undefined ? {} : { allocated }) } },
  );
}
