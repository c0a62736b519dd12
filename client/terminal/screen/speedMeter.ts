/** Of how many ms the mean is taken. */
const period = 5_000;
/** Before this many ms nothing can be said. */
const least = 500;

interface Sample {
  readonly at: number;
  readonly completed: number;
}

/** How fast something counts up, by what it was in the last seconds. */
export class SpeedMeter {
  #samples: Sample[] = [];

  note(at: number, completed: number): void {
    // What begins anew has another history.
    if (completed < (this.#samples.at(-1)?.completed ?? 0)) this.#samples = [];
    this.#samples.push({ at, completed });
    this.#forget(at);
  }

  /** A second; undefined where it is too early. */
  speed(now: number): number | undefined {
    this.#forget(now);
    const [first] = this.#samples;
    const last = this.#samples.at(-1);
    if (!first || !last || now - first.at < least) return undefined;
    return ((last.completed - first.completed) / (now - first.at)) * 1000;
  }

  /** The last one stays: it holds until there is another. */
  #forget(now: number): void {
    const first = this.#samples.findIndex(({ at }) => now - at <= period);
    this.#samples.splice(0, first < 0 ? this.#samples.length - 1 : first);
  }
}
