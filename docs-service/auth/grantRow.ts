import type { Grant } from './accessToken.ts';
import { isScope } from './scope.ts';

/** A token as both engines keep it. */
export interface GrantRow {
  readonly id: string;
  /** Separated by spaces. */
  readonly scopes: string;
  readonly me: string | null;
  /** PostgreSQL gives its large integers as texts. */
  readonly created: number | string;
  readonly expires: number | string;
  readonly last_used: number | string | null;
}

export function rowToGrant({ id, scopes, me, created, expires, last_used }: GrantRow): Grant {
  return {
    id,
    scopes: scopes.split(' ').filter(isScope),
    me,
    created: Number(created),
    expires: Number(expires),
    lastUsed: last_used === null ? null : Number(last_used),
  };
}
