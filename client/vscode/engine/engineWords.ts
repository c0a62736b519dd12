import { formatBytes } from '../../../protocol/base/bytes.ts';
import type { EngineOffers, EngineWay } from '../../../protocol/messages/engine.ts';

/** An entry of the list of ways to a model on this machine. */
export interface WayChoice {
  readonly label: string;
  readonly detail: string;
  /** Absent: the page from which Ollama can be got. */
  readonly way?: EngineWay;
}

export const ollamaPage = 'https://ollama.com/download';

/** What the daemon offers, and how to get a runner of one's own. */
export function wayChoices({ ways }: Pick<EngineOffers, 'ways'>): readonly WayChoice[] {
  const offered = ways.map((way) => ({
    label: sentenceCase(way.label),
    detail:
      way.fetches.length === 0
        ? 'Everything for it is on this machine.'
        : `Fetches ${sizeOf(way)} first. You are asked again, with the sources and the licenses.`,
    way,
  }));
  if (ways.some(({ start }) => start.product === 'ollama')) return offered;
  const detail = 'Opens its page. Once it is installed, its models are found by themselves.';
  return [...offered, { label: 'Get Ollama', detail }];
}

/** Why nothing can be started: a sentence of the daemon's. */
export function whyNothing({ ways, library, sample }: EngineOffers): string | undefined {
  return ways.length > 0 ? undefined : (library.problem ?? sample.problem);
}

/** A question, and the button that says yes. */
export interface Question {
  readonly message: string;
  readonly detail: string;
  readonly yes: string;
}

/**
 * What the user must agree to, after choosing a way; undefined if that needs no second question. `host` is the address
 * that the setting names: what is started here would not be used beside it.
 */
export function questionBefore(way: EngineWay, host: string | undefined): Question | undefined {
  const { fetches, warning } = way;
  const cleared =
    host === undefined
      ? []
      : [
          `The setting runner.host names ${host}. It is cleared once the model runs, because it would come first.`,
        ];
  if (fetches.length === 0)
    return host === undefined
      ? undefined
      : {
          message: 'Start it in the place of the runner that is set?',
          detail: cleared.join(''),
          yes: 'Start',
        };
  const parts = [
    ...(warning === undefined ? [] : [warning]),
    ...fetches.map(({ description }) => description),
    '"Runner: Delete What Was Fetched" deletes all of it again.',
    ...cleared,
  ];
  return {
    message: `Fetch ${sizeOf(way)}, and start a model here?`,
    detail: parts.join('\n\n'),
    yes: 'Fetch and Start',
  };
}

function sizeOf({ fetches }: EngineWay): string {
  return formatBytes(fetches.reduce((sum, { bytes }) => sum + bytes, 0));
}

function sentenceCase(label: string): string {
  return label.charAt(0).toUpperCase() + label.slice(1);
}
