import { HttpProblem } from '../problem.ts';

/** Streams that one grant may have at once: an agent has one, and each of its windows has one. */
const most = 8;

/** Limits the streams of each grant, so that others get theirs. */
export class ListenerCount {
  readonly #open = new Map<string, number>();

  /** Returns a function that removes the listener. Throws HttpProblem if the grant has enough. */
  add(grant: string): () => void {
    const count = this.#open.get(grant) ?? 0;
    if (count >= most)
      throw new HttpProblem(
        429,
        `One token can have at most ${most} streams at once. End one of the others.`,
        {
          headers: { 'retry-after': '5' },
        },
      );
    this.#open.set(grant, count + 1);
    return () => this.#remove(grant);
  }

  #remove(grant: string): void {
    const count = (this.#open.get(grant) ?? 0) - 1;
    if (count > 0) this.#open.set(grant, count);
    else this.#open.delete(grant);
  }
}

/** Whether a message opens a stream that stays open. */
export function listens(message: unknown): boolean {
  return (
    typeof message === 'object' &&
    message !== null &&
    'method' in message &&
    message.method === 'subscriptions/listen'
  );
}
