import { randomBytes, type ScryptOptions, scrypt, timingSafeEqual } from 'node:crypto';
import { promisify } from 'node:util';
import { UsageError } from '../base/options.ts';
import { RateLimiter } from '../base/rateLimiter.ts';
import type { OwnerStore } from './ownerStore.ts';
import { TurnQueue } from './turnQueue.ts';

export type PasswordAnswer =
  /** With the owner's epoch at the time of the check. */
  { readonly kind: 'right'; readonly epoch: number } | { readonly kind: 'wrong' | 'tooMany' | 'busy' };

const minute = 60_000;
/** Passwords that are hashed at once: each needs 64 MB. And how many wait. */
const hashing = { lanes: 2, length: 8 };

/** Checks passwords, a few at once and a few a minute for each address, across all instances. */
export class PasswordCheck {
  /** Refuses excessive attempts before the database is asked. */
  readonly #tries: RateLimiter;
  readonly #queue = new TurnQueue(hashing);

  constructor(
    private readonly options: {
      readonly owners: OwnerStore;
      /** Milliseconds since 1970. */
      readonly now: () => number;
      /** Wrong passwords a minute from one address. */
      readonly limit: number;
    },
  ) {
    this.#tries = new RateLimiter(4 * options.limit, options.now);
  }

  /** If the owner has no password, every password is wrong. */
  async check(password: string, address: string): Promise<PasswordAnswer> {
    if (!this.#tries.take(address).isAllowed) return { kind: 'tooMany' };
    const { owners, now, limit } = this.options;
    // Recorded before the check, so that a hundred guesses at once count as a hundred.
    const attempt = { id: randomBytes(9).toString('base64url'), address, made: now() };
    const attempts = await owners.noteAttempt(attempt, now() - minute);
    const answer: PasswordAnswer =
      attempts > limit ? { kind: 'tooMany' } : await this.#compare(password, attempt.id);
    if (answer.kind !== 'wrong') await owners.forgetAttempt(attempt.id);
    return answer;
  }

  async #compare(password: string, attempt: string): Promise<PasswordAnswer> {
    const { password: hash, epoch } = await this.options.owners.read();
    if (hash === null) return { kind: 'wrong' };
    const leave = await this.#queue.tryEnter(attempt);
    if (leave === undefined) return { kind: 'busy' };
    try {
      return (await isPassword(password, hash)) ? { kind: 'right', epoch } : { kind: 'wrong' };
    } finally {
      leave();
    }
  }
}

/** In characters. */
const shortest = 12;
const maxPasswordLength = 1_000;

/** 64 MB and two passes for each guess, as OWASP's "Password Storage Cheat Sheet" recommends. */
const costs = { N: 65_536, r: 8, p: 2 };
const keyLength = 32;

const derive = promisify<string, Buffer, number, ScryptOptions, Buffer>(scrypt);

/** Throws UsageError for a password that is too short or too long. */
export function checkPassword(password: string): void {
  const { length } = [...password.trim()];
  if (length < shortest)
    throw new UsageError(`the password needs at least ${shortest} characters, and has ${length}.`);
  if (length > maxPasswordLength)
    throw new UsageError(`the password may have at most ${maxPasswordLength} characters.`);
}

/** Resolves to a text that contains the salt and the costs, so that later versions can raise the costs. */
export async function hashPassword(password: string): Promise<string> {
  const salt = randomBytes(16);
  const key = await derive(normalize(password), salt, keyLength, optionsOf(costs));
  const { N, r, p } = costs;
  return ['scrypt', N, r, p, salt.toString('base64url'), key.toString('base64url')].join('$');
}

export async function isPassword(password: string, hash: string): Promise<boolean> {
  const [kind, N, r, p, salt = '', key = ''] = hash.split('$');
  if (kind !== 'scrypt' || password.length > 4 * maxPasswordLength) return false;
  const expected = Buffer.from(key, 'base64url');
  const options = optionsOf({ N: Number(N), r: Number(r), p: Number(p) });
  try {
    const found = await derive(normalize(password), Buffer.from(salt, 'base64url'), expected.length, options);
    return timingSafeEqual(found, expected);
  } catch {
    // The hash is damaged, so no password is right.
    return false;
  }
}

function optionsOf({ N, r, p }: typeof costs): ScryptOptions {
  return { N, r, p, maxmem: 256 * N * r };
}

/** The same password gives the same text, whatever keyboard it was typed on. */
function normalize(password: string): string {
  return password.normalize('NFKC');
}
