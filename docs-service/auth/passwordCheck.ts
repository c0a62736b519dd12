import { randomBytes } from 'node:crypto';
import { RateLimiter } from '../base/rateLimiter.ts';
import type { OwnerStore } from './ownerStore.ts';
import { isPassword } from './passwordHash.ts';

export type PasswordAnswer =
  /** With the owner's epoch at the time of the check. */
  { readonly kind: 'right'; readonly epoch: number } | { readonly kind: 'wrong' | 'tooMany' | 'busy' };

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

/** Checks passwords, a few at once and a few a minute for each address, across all instances. */
export class PasswordCheck {
  readonly #options: PasswordCheckOptions;
  /** Refuses excessive attempts before the database is asked. */
  readonly #tries: RateLimiter;
  readonly #waiting: (() => void)[] = [];
  #running = 0;

  constructor(options: PasswordCheckOptions) {
    this.#options = options;
    this.#tries = new RateLimiter(4 * options.limit, options.now);
  }

  /** If the owner has no password, every password is wrong. */
  async check(password: string, address: string): Promise<PasswordAnswer> {
    if (!this.#tries.take(address).isAllowed) return { kind: 'tooMany' };
    const { owners, now, limit } = this.#options;
    // Recorded before the check, so that a hundred guesses at once count as a hundred.
    const attempt = { id: randomBytes(9).toString('base64url'), address, made: now() };
    const attempts = await owners.noteAttempt(attempt, now() - minute);
    const answer: PasswordAnswer = attempts > limit ? { kind: 'tooMany' } : await this.#compare(password);
    if (answer.kind !== 'wrong') await owners.forgetAttempt(attempt.id);
    return answer;
  }

  async #compare(password: string): Promise<PasswordAnswer> {
    const { password: hash, epoch } = await this.#options.owners.read();
    if (hash === null) return { kind: 'wrong' };
    if (!(await this.#begin())) return { kind: 'busy' };
    try {
      return (await isPassword(password, hash)) ? { kind: 'right', epoch } : { kind: 'wrong' };
    } finally {
      this.#end();
    }
  }

  /** Waits for a turn; false if too many wait. */
  async #begin(): Promise<boolean> {
    if (this.#running < most) {
      this.#running += 1;
      return true;
    }
    if (this.#waiting.length >= longestQueue) return false;
    await new Promise<void>((resolve) => this.#waiting.push(resolve));
    return true;
  }

  /** The next in line takes over the turn. */
  #end(): void {
    const next = this.#waiting.shift();
    if (next === undefined) this.#running -= 1;
    else next();
  }
}
