import { type Grant, hashSecret } from './accessToken.ts';
import type { TokenStore } from './tokenStore.ts';

export interface TokenVerifierOptions {
  readonly store: TokenStore;
  /** Milliseconds since 1970. */
  readonly now: () => number;
  readonly onError: (error: Error) => void;
}

/** Milliseconds for which an answer of the store counts. A revoked token stops working within this time. */
const cacheTime = 800;
/** Milliseconds between two writes of when tokens were last used. */
const notePeriod = 60_000;
/** Answers that are cached at once. */
const capacity = 10_000;

/** Says what a bearer may do. It asks the store about once a second for each token, at most. */
export class TokenVerifier {
  readonly #options: TokenVerifierOptions;
  readonly #known = new Map<string, { readonly until: number; readonly grant: Promise<Grant | undefined> }>();
  readonly #uses = new Map<string, number>();
  readonly #timer: NodeJS.Timeout;

  constructor(options: TokenVerifierOptions) {
    this.#options = options;
    this.#timer = setInterval(() => void this.#noteUses(), notePeriod).unref();
  }

  /** Undefined for a token that is unknown, revoked or expired. Rejects while the store is down. */
  async verify(token: string): Promise<Grant | undefined> {
    const now = this.#options.now();
    const grant = await this.#find(hashSecret(token), now);
    if (grant === undefined || grant.expires <= now) return undefined;
    this.#uses.set(grant.id, now);
    return grant;
  }

  async close(): Promise<void> {
    clearInterval(this.#timer);
    await this.#noteUses();
  }

  #find(hash: string, now: number): Promise<Grant | undefined> {
    const known = this.#known.get(hash);
    // A clock that is set back must not keep a revoked token alive.
    if (known !== undefined && known.until > now && known.until <= now + cacheTime) return known.grant;
    if (this.#known.size >= capacity) this.#known.clear();
    const grant = this.#options.store.find(hash);
    this.#known.set(hash, { until: now + cacheTime, grant });
    // A failure is no answer: the next request asks again.
    grant.catch(() => this.#known.delete(hash));
    return grant;
  }

  async #noteUses(): Promise<void> {
    if (this.#uses.size === 0) return;
    const uses = new Map(this.#uses);
    this.#uses.clear();
    await this.#options.store.noteUses(uses).catch(this.#options.onError);
  }
}
