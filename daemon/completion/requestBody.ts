import type { GenerateRequestBody } from '../runner/client.ts';
import { keepAliveToWire } from '../runner/keepAlive.ts';
import type { Surroundings } from './surroundings.ts';
import type { Way } from './ways.ts';

export interface Asked {
  readonly model: string;
  readonly isMultiline: boolean;
  /** The prompt is to be evaluated, and nothing is wanted. */
  readonly isWarming?: boolean;
  /** Of other files, as a comment before the text; `""` is none. */
  readonly before: string;
  /** Of the configuration: seconds or a duration. */
  readonly keepAlive?: string | number;
  /** Of the configuration, in tokens. Another one than the chat's would load the model anew. */
  readonly contextLength?: number;
}

/** In tokens; 0 would be no limit to a runner. */
const warmingLimit = 1;
const lineLimit = 32;
const blockLimit = 128;
/** Low: of several ways to go on the likeliest is wanted. */
const temperature = 0.1;

/** The body of `/api/generate`. `truncate: false` makes the runner refuse what it would cut in silence. */
export function completionRequestBody(way: Way, around: Surroundings, asked: Asked): GenerateRequestBody {
  const { model, isMultiline, isWarming, before, keepAlive, contextLength } = asked;
  return {
    model,
    ...way.prompt(before + around.prefix, around.suffix),
    think: false,
    truncate: false,
    options: {
      temperature,
      num_predict: isWarming ? warmingLimit : isMultiline ? blockLimit : lineLimit,
      ...(way.stops.length === 0 ? {} : { stop: way.stops }),
      ...(contextLength === undefined ? {} : { num_ctx: contextLength }),
    },
    ...(keepAlive === undefined ? {} : { keep_alive: keepAliveToWire(keepAlive) }),
  };
}
