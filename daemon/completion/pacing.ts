import type { AskRunner } from './completionRunner.ts';
import type { OpenDocuments } from './openDocuments.ts';

/** Waits for this time in ms, and rejects at once when the signal is aborted. */
export type Delay = (milliseconds: number, signal: AbortSignal) => Promise<void>;

export interface PauseQuery {
  readonly uri: string;
  readonly model: string;
  /** True: the time since the last keystroke counts, because the editor itself may have waited. */
  readonly isSinceKey: boolean;
}

export type Pacing = ReturnType<typeof createPacing>;

/** Waits until the user stops typing, because a request that comes too early costs the time of a whole answer. */
export function createPacing(
  documents: Pick<OpenDocuments, 'restedFor' | 'gaps'>,
  latency: Pick<Latency, 'of'>,
  wait: Delay,
) {
  return {
    /** Waits for the remaining part of the rest. A newer request or a cancellation ends it at once. */
    async rest({ uri, model, isSinceKey }: PauseQuery, signal: AbortSignal): Promise<void> {
      signal.throwIfAborted();
      const wanted = restFor({ gaps: documents.gaps(uri), latency: latency.of(model) });
      const left = wanted - (isSinceKey ? documents.restedFor(uri) : 0);
      if (left > 0) await wait(left, signal);
    },
  };
}

/** What the length of a rest depends on. */
export interface Pace {
  /** The gaps between the latest keystrokes in a document, in ms, without pauses. */
  readonly gaps: readonly number[];
  /** The time from a request to the first line of the model's answer, in ms; undefined if none was measured. */
  readonly latency?: number | undefined;
}

/** The rest while it is not known how the user types, in ms. */
const usualRest = 150;
/** In ms. */
const minRest = 75;
const maxRest = 400;
/** How many gaps are needed to know how the user types. */
const minGaps = 4;
/** More latency than this makes no rest longer, in ms. */
const maxLatency = 1_000;

/**
 * How long the user must pause before the runner is asked, in ms. It is a third longer than the upper quartile of the
 * gaps, so that a keystroke seldom follows the request. A tenth of the model's latency is added: the user hardly
 * notices that, but a request that comes too early costs the whole latency.
 */
export function restFor({ gaps, latency = 0 }: Pace): number {
  const usual = gaps.length < minGaps ? usualRest : upperQuartile(gaps) * (4 / 3);
  const rest = usual + Math.min(latency, maxLatency) / 10;
  return Math.round(Math.min(maxRest, Math.max(minRest, rest)));
}

function upperQuartile(gaps: readonly number[]): number {
  const sorted = gaps.toSorted((one, other) => one - other);
  return sorted[Math.floor((sorted.length - 1) * 0.75)] ?? usualRest;
}

/** How many answers of a model are remembered. */
const maxTimes = 5;

/** How long models recently took until the first line of an answer. */
export type Latency = ReturnType<typeof createLatency>;

/** `now` in ms. */
export function createLatency(now: () => number) {
  let seen: { readonly model: string; readonly times: readonly number[] } = { model: '', times: [] };
  const note = (model: string, time: number) => {
    const times = seen.model === model ? seen.times : [];
    seen = { model, times: [...times, time].slice(-maxTimes) };
  };
  return {
    /**
     * The median of the latest answers, in ms, so that an answer for which the model had to be loaded counts little.
     */
    of: (model: string) => (seen.model === model ? median(seen.times) : undefined),
    /** Wraps `ask` to measure it. An answer that is aborted or fails does not count. */
    observe:
      (ask: AskRunner): AskRunner =>
      async (place, signal, receive) => {
        const begun = now();
        let firstLine: number | undefined;
        const text = await ask(place, signal, (piece) => {
          if (piece.includes('\n')) firstLine ??= now() - begun;
          receive(piece);
        });
        note(place.model, firstLine ?? now() - begun);
        return text;
      },
  };
}

function median(times: readonly number[]): number | undefined {
  return times.toSorted((one, other) => one - other)[Math.floor(times.length / 2)];
}
