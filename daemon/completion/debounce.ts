/** What the wait for the keys to rest follows. */
export interface Pace {
  /** Between the newest keys of a document, in ms; pauses are not among them. */
  readonly gaps: readonly number[];
  /** From a request to the first line of the model's answer, in ms; undefined where none was seen. */
  readonly latency?: number | undefined;
}

/** How long the keys rest where it is not known yet how the user types, in ms. */
const middle = 150;
/** The bounds, in ms. */
const least = 75;
const most = 400;
/** How many gaps make a habit. */
const fewest = 4;
/** In ms: what is shorter is an editor's own change, what is longer is a pause. */
const shortest = 20;
const longest = 1_000;

/** Whether so many ms between two changes of a document are a gap between two keys. */
export function isTyping(gap: number): boolean {
  return gap >= shortest && gap <= longest;
}

/**
 * How long the keys rest before the runner is asked, in ms: a third more than three of four gaps, so that a key seldom
 * comes after the request; and a tenth of the time that the answer takes, which is hardly felt, because a request that
 * was too early costs all of it.
 */
export function restFor({ gaps, latency = 0 }: Pace): number {
  const usual = gaps.length < fewest ? middle : upperQuartile(gaps) * (4 / 3);
  const rest = usual + Math.min(latency, longest) / 10;
  return Math.round(Math.min(most, Math.max(least, rest)));
}

function upperQuartile(gaps: readonly number[]): number {
  const sorted = gaps.toSorted((one, other) => one - other);
  return sorted[Math.floor((sorted.length - 1) * 0.75)] ?? middle;
}
