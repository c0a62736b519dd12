import { HttpProblem } from '../problem.ts';

/** Streams that one grant has at once: an agent has one, and its windows have one each. */
const most = 8;

/** Leaves no grant so many streams that others get none. */
export class ListenerCount {
  readonly #open = new Map<string, number>();

  /** Returns what takes the listener off again. Throws HttpProblem where the grant has enough. */
  add(grant: string): () => void {
    const count = this.#open.get(grant) ?? 0;
    if (count >= most)
      throw new HttpProblem(429, `One token listens at most ${most} times at once. End one of the others.`, {
        headers: { 'retry-after': '5' },
      });
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
