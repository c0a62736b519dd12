import { createHash, randomBytes } from 'node:crypto';
import { createSharedWork } from '../../protocol/base/keyedWork.ts';
import type { BaseUrl } from '../base/baseUrl.ts';
import { LruCache } from '../base/lruCache.ts';
import { type Grant, hashSecret } from './accessTokens.ts';
import { type ActiveToken, type IntrospectionClient, parseIntrospection } from './introspection.ts';

/** The most milliseconds for which an answer counts. */
const cacheTime = { good: 60_000, bad: 10_000 };
/** Answers of each kind that are cached at once: guesses push out only guesses. */
const capacity = 10_000;
/** In characters. No server issues longer tokens. */
const maxTokenLength = 4_096;

/** What the token allows; null for one that is unknown or for another service. */
type Verdict = Grant | null | 'foreign';

interface CachedVerdict {
  readonly verdict: Verdict;
  readonly from: number;
  readonly until: number;
}

/** Says what a bearer may do, by asking the server that issued the token. */
export class RemoteVerifier {
  readonly #good = new LruCache<CachedVerdict>(capacity);
  readonly #bad = new LruCache<CachedVerdict>(capacity);
  /** The questions that are open, by the hashes of their tokens. */
  readonly #questions = createSharedWork<Verdict>();
  /** Without it, the name of a grant could reveal its token to somebody who knows many tokens. */
  readonly #salt = randomBytes(16);
  #isDown = false;

  constructor(
    private readonly options: {
      readonly client: IntrospectionClient;
      /** The profile URLs of those who may read. Anyone can run a server that issues tokens for anybody. */
      readonly allowed: readonly string[];
      readonly baseUrl: BaseUrl;
      /** Milliseconds since 1970. */
      readonly now: () => number;
      /** Called when the server stops answering, and when it answers again. */
      readonly warn: (message: string) => void;
    },
  ) {}

  /**
   * Undefined for a token that is not active, or that is for another service. Throws ForeignProfileError for the token
   * of somebody who is not on the list. Rejects while the server does not answer.
   */
  async verify(token: string): Promise<Grant | undefined> {
    if (token.length > maxTokenLength) return undefined;
    const hash = hashSecret(token);
    const known = this.#find(hash);
    const verdict = known ? known.verdict : await this.#questions.join(hash, () => this.#ask(token, hash));
    if (verdict === 'foreign') throw new ForeignProfileError();
    return verdict === null || verdict.expires <= this.options.now() ? undefined : verdict;
  }

  close(): Promise<void> {
    return this.options.client.close();
  }

  #find(hash: string): CachedVerdict | undefined {
    const known = this.#good.get(hash) ?? this.#bad.get(hash);
    const now = this.options.now();
    // A clock that is set back must not keep a revoked token alive.
    return known !== undefined && known.from <= now && now < known.until ? known : undefined;
  }

  async #ask(token: string, hash: string): Promise<Verdict> {
    const { client, baseUrl, now } = this.options;
    const from = now();
    try {
      const answer = parseIntrospection(await client.ask(token), baseUrl);
      this.#note(undefined);
      const verdict = answer.isActive ? this.#judge(answer, hash, from) : null;
      this.#keep(hash, verdict, from);
      return verdict;
    } catch (error) {
      this.#note(error);
      throw error;
    }
  }

  #judge(answer: ActiveToken, hash: string, from: number): Verdict {
    const { me, client, scopes, isForHere, issued, expires = from + cacheTime.good } = answer;
    if (!isForHere || expires <= from) return null;
    if (me === undefined || !this.options.allowed.includes(me)) return 'foreign';
    const id = createHash('sha256').update(this.#salt).update(hash).digest('hex').slice(0, 12);
    return { id, scopes, me, client, created: issued ?? from, expires, lastUsed: null };
  }

  #keep(hash: string, verdict: Verdict, from: number): void {
    const isGood = verdict !== null && verdict !== 'foreign';
    const until = from + (isGood ? cacheTime.good : cacheTime.bad);
    (isGood ? this.#bad : this.#good).delete(hash);
    (isGood ? this.#good : this.#bad).set(hash, { verdict, from, until });
  }

  #note(error: unknown): void {
    const isDown = error !== undefined;
    if (isDown === this.#isDown) return;
    this.#isDown = isDown;
    this.options.warn(
      isDown
        ? `The introspection server cannot check tokens: ${reasonOf(error)}. Until it can, requests are answered with 503.`
        : 'The introspection server checks tokens again.',
    );
  }
}

/** The content of a body does not belong in a log. */
function reasonOf(error: unknown): string {
  if (error instanceof SyntaxError || error instanceof TypeError) return 'its answer is not JSON';
  if (error instanceof DOMException) return 'it does not answer in time';
  return error instanceof Error ? error.message : 'it fails';
}

/** A valid token of a person who may not read here. */
export class ForeignProfileError extends Error {
  override readonly name = 'ForeignProfileError';

  constructor() {
    super('The token is valid, but it belongs to somebody who may not read here.');
  }
}
