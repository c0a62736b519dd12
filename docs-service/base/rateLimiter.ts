import ipaddr from 'ipaddr.js';
import { LruCache } from './lruCache.ts';

/** Milliseconds in which a bucket fills from empty. */
const period = 60_000;
/** Callers that are counted at once. */
const capacity = 100_000;

interface Bucket {
  /** How many were taken and have not drained yet. */
  level: number;
  at: number;
}

/** Leaky buckets by caller: `limit` a minute, at once or spread out. Memory is bounded, and no timer runs. */
export class RateLimiter {
  readonly #buckets = new LruCache<Bucket>(capacity);

  /** `now` is in milliseconds. */
  constructor(
    readonly limit: number,
    private readonly now: () => number,
  ) {}

  /** Counts one, if the limit allows it. */
  take(caller: string) {
    const bucket = this.#bucketOf(caller);
    const isAllowed = bucket.level + 1 <= this.limit;
    if (isAllowed) bucket.level += 1;
    const excess = isAllowed ? bucket.level : bucket.level + 1 - this.limit;
    const wait = (excess * period) / this.limit;
    return {
      isAllowed,
      /** How much of the limit is left. */
      remaining: Math.max(0, Math.floor(this.limit - bucket.level)),
      /** Seconds until the limit is full again, or, if nothing is left, until one more is allowed; at least 1. */
      resetAfter: Math.max(1, Math.ceil(wait / 1_000)),
    };
  }

  #bucketOf(caller: string): Bucket {
    const now = this.now();
    const bucket = this.#buckets.get(caller) ?? { level: 0, at: now };
    // A clock that is set back takes nothing from anybody.
    const passed = Math.max(0, now - bucket.at);
    bucket.level = Math.max(0, bucket.level - (passed * this.limit) / period);
    bucket.at = now;
    this.#buckets.set(caller, bucket);
    return bucket;
  }
}

/** One caller is an IPv4 address, or the /64 of an IPv6 address, which one household has. */
export function callerOf(text: string): string {
  if (!ipaddr.isValid(text)) return text;
  const address = ipaddr.process(text);
  if (!(address instanceof ipaddr.IPv6)) return address.toString();
  const network = address.parts.slice(0, 4).map((part) => part.toString(16));
  return `${network.join(':')}::/64`;
}
