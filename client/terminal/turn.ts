import {
  type ChatDelta,
  type ChatParams,
  type ChatResult,
  chatDelta,
  chatRequest,
} from '../../protocol/chat.ts';
import type { Daemon } from './daemon.ts';

/** Takes what comes; it is not called again before it has settled. */
export type TakeDelta = (delta: ChatDelta) => Promise<void>;

/** Asks for one answer. All deltas are taken, in order, before it settles, also when it fails. */
export type AskForTurn = (
  params: Omit<ChatParams, 'streamId'>,
  take: TakeDelta,
  signal: AbortSignal,
) => Promise<ChatResult>;

/** Beyond this many deltas that wait to be taken, the daemon is not read. */
const manyDeltas = 16;

/** `daemon` is asked for at each turn: it may be another by then. */
export function createTurns(daemon: () => Daemon): AskForTurn {
  let count = 0;
  return async (params, take, signal) => {
    const current = daemon();
    const streamId = `terminal-${count++}`;
    const deltas = new DeltaQueue(current, take);
    const stop = current.onNotification(chatDelta, (delta) => {
      if (delta.streamId === streamId) deltas.push(delta);
    });
    try {
      return await current.request(chatRequest, { streamId, ...params }, signal);
    } finally {
      stop();
      await deltas.taken();
    }
  };
}

/** Has its deltas taken one after another, and holds the daemon back when that is slow. */
class DeltaQueue {
  readonly #daemon: Daemon;
  readonly #take: TakeDelta;
  readonly #waiting: ChatDelta[] = [];
  #work: Promise<void> | undefined;

  constructor(daemon: Daemon, take: TakeDelta) {
    this.#daemon = daemon;
    this.#take = take;
  }

  push(delta: ChatDelta): void {
    this.#waiting.push(delta);
    if (this.#waiting.length === manyDeltas) this.#daemon.pause();
    this.#work ??= this.#takeAll();
  }

  async taken(): Promise<void> {
    await this.#work;
  }

  async #takeAll(): Promise<void> {
    for (let delta = this.#waiting.shift(); delta; delta = this.#waiting.shift()) await this.#take(delta);
    this.#work = undefined;
    this.#daemon.resume();
  }
}
