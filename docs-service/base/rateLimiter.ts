import { isIPv6 } from 'node:net';
import ipaddr from 'ipaddr.js';

export interface Allowance {
  readonly isAllowed: boolean;
  /** How much of the limit is left. */
  readonly remaining: number;
  /** Seconds until the limit is full again, or, if nothing is left, until one more is allowed; at least 1. */
  readonly resetAfter: number;
}

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
  readonly limit: number;
  readonly #now: () => number;
  readonly #buckets = new Map<string, Bucket>();

  /** `now` is in milliseconds. */
  constructor(limit: number, now: () => number) {
    this.limit = limit;
    this.#now = now;
  }

  /** Counts one, if the limit allows it. */
  take(caller: string): Allowance {
    const bucket = this.#bucketOf(caller);
    const isAllowed = bucket.level + 1 <= this.limit;
    if (isAllowed) bucket.level += 1;
    return this.#allowance(bucket, isAllowed);
  }

  #allowance({ level }: Bucket, isAllowed: boolean): Allowance {
    const perMillisecond = this.limit / period;
    const wait = isAllowed ? level / perMillisecond : (level + 1 - this.limit) / perMillisecond;
    return {
      isAllowed,
      remaining: Math.max(0, Math.floor(this.limit - level)),
      resetAfter: Math.max(1, Math.ceil(wait / 1_000)),
    };
  }

  #bucketOf(caller: string): Bucket {
    const now = this.#now();
    const bucket = this.#buckets.get(caller) ?? { level: 0, at: now };
    // A clock that is set back takes nothing from anybody.
    const passed = Math.max(0, now - bucket.at);
    bucket.level = Math.max(0, bucket.level - (passed * this.limit) / period);
    bucket.at = now;
    // The most recently used bucket is last, so the first ones are dropped.
    this.#buckets.delete(caller);
    this.#buckets.set(caller, bucket);
    if (this.#buckets.size > capacity) this.#forgetFirst();
    return bucket;
  }

  #forgetFirst(): void {
    for (const caller of this.#buckets.keys()) {
      this.#buckets.delete(caller);
      return;
    }
  }
}

/** One caller is an IPv4 address, or the /64 of an IPv6 address, which one household has. */
export function callerOf(address: string): string {
  const plain = address.replace(/^::ffff:(?=\d+\.)/i, '').replace(/%.*$/, '');
  if (!isIPv6(plain)) return plain;
  const network = ipaddr.IPv6.parse(plain).parts.slice(0, 4);
  return `${network.map((part) => part.toString(16)).join(':')}::/64`;
}
