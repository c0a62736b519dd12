import { randomBytes } from 'node:crypto';
import type { OwnerStore } from './ownerStore.ts';
import { isPassword } from './passwordHash.ts';

export type PasswordAnswer = 'right' | 'wrong' | 'tooMany' | 'busy';

export interface PasswordCheckOptions {
  readonly owners: OwnerStore;
  /** Milliseconds since 1970. */
  readonly now: () => number;
  /** Wrong passwords a minute from one address. */
  readonly limit: number;
}

const minute = 60_000;
/** Passwords that are hashed at once: each needs 64 MB. */
const most = 2;
const longestQueue = 8;

/** Checks passwords, a few at once and a few a minute for each address, over all instances. */
export class PasswordCheck {
  readonly #options: PasswordCheckOptions;
  readonly #waiting: (() => void)[] = [];
  #running = 0;

  constructor(options: PasswordCheckOptions) {
    this.#options = options;
  }

  /** Without an owner's password every one is wrong. */
  async check(password: string, address: string): Promise<PasswordAnswer> {
    if (this.#waiting.length >= longestQueue) return 'busy';
    const { owners, now, limit } = this.#options;
    // Noted before it is checked, so that a hundred guesses at once are a hundred.
    const attempt = { id: randomBytes(9).toString('base64url'), address, made: now() };
    const attempts = await owners.noteAttempt(attempt, now() - minute);
    if (attempts > limit) {
      await owners.forgetAttempt(attempt.id);
      return 'tooMany';
    }
    const { password: hash } = await owners.read();
    const isRight = hash !== null && (await this.#inTurn(() => isPassword(password, hash)));
    if (!isRight) return 'wrong';
    await owners.forgetAttempt(attempt.id);
    return 'right';
  }

  async #inTurn<Result>(work: () => Promise<Result>): Promise<Result> {
    if (this.#running >= most) await new Promise<void>((resolve) => this.#waiting.push(resolve));
    this.#running += 1;
    try {
      return await work();
    } finally {
      this.#running -= 1;
      this.#waiting.shift()?.();
    }
  }
}
