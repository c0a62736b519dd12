import { canChat, type Model } from '../../../protocol/messages/models.ts';
import { agentWindow, taskNeeds } from './editorChatSettings.ts';

/** What is known about the window that is needed, all in tokens. */
export interface WindowNeeds {
  /** The smallest window that holds the prompt; absent if nothing was refused. */
  readonly fitting?: number;
  /** The most that the model can have; if nothing was refused, the most that any model can have. */
  readonly maximum?: number;
}

export interface WindowChoice {
  readonly label: string;
  readonly description: string;
  /** 0 leaves it to the runner. */
  readonly tokens: number;
}

/** The usual sizes, in tokens. A model with a smaller maximum gets its maximum. */
const usual = [8_192, 16_384, 32_768, 65_536, 131_072, 262_144];

/**
 * The windows to choose from, the one of now among them: they begin at what is needed, and end at what a model holds.
 */
export function windowChoices(
  { fitting = 0, maximum = Number.POSITIVE_INFINITY }: WindowNeeds,
  now: number,
): readonly WindowChoice[] {
  const ends = [fitting, maximum].filter((tokens) => tokens > 0 && Number.isFinite(tokens));
  const inRange = [...usual, ...ends].filter((tokens) => tokens >= fitting && tokens <= maximum);
  const sizes = [...new Set(now > 0 && fitting === 0 ? [...inRange, now] : inRange)];
  const holder = fitting > 0 ? 'the model holds' : 'any of your models holds';
  const proposal = Math.min(agentWindow, maximum);
  const choices = sizes
    .sort((a, b) => a - b)
    .map((tokens) => ({
      label: `${tokens.toLocaleString('en-US')} tokens`,
      description: [
        tokens === now ? 'now' : '',
        tokens === fitting ? 'the smallest that fits' : '',
        tokens === maximum ? `the most that ${holder}` : '',
        forAgents(tokens, proposal),
      ]
        .filter(Boolean)
        .join(' · '),
      tokens,
    }));
  // What the runner decided was too small.
  if (fitting > 0) return choices;
  const description = ['often 4,096 tokens', now === 0 ? 'now' : ''].filter(Boolean).join(' · ');
  return [{ label: 'The runner decides', description, tokens: 0 }, ...choices];
}

/** What a window means for the editor's own agent. */
function forAgents(tokens: number, proposal: number): string {
  if (tokens < taskNeeds) return "the editor's agent summarises at each step";
  return tokens === proposal ? "for the editor's agent" : '';
}

/** The setting is for all models, and each gets at most what it holds. */
export function largestOf(models: readonly Model[]): WindowNeeds {
  const able = models.filter((model) => canChat(model) && !model.remote);
  const known = able.flatMap(({ context: { maximum } }) => maximum ?? []);
  return known.length > 0 && known.length === able.length ? { maximum: Math.max(...known) } : {};
}
