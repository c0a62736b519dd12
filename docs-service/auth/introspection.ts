import type { BaseUrl } from '../base/baseUrl.ts';
import { isOwnResource } from './ownResource.ts';
import { tryProfileUrl } from './profileUrl.ts';
import { isScope, type Scope } from './scope.ts';

/** What the server that issued a token says about it (RFC 7662, 2.2, and IndieAuth, 6.1). */
export type Introspection = { readonly isActive: false } | ActiveToken;

export interface ActiveToken {
  readonly isActive: true;
  /** In the form in which profile URLs are compared; undefined if there is no valid one. */
  readonly me: string | undefined;
  /** Only those that this service knows. */
  readonly scopes: readonly Scope[];
  readonly client: string | null;
  /** Milliseconds since 1970. */
  readonly issued: number | undefined;
  readonly expires: number | undefined;
  /** The token was issued for this service, or for none in particular. */
  readonly isForHere: boolean;
}

/** Throws if the answer makes no sense; then the token is not accepted. */
export function parseIntrospection(text: string, baseUrl: BaseUrl): Introspection {
  const answer: unknown = JSON.parse(text);
  if (!isRecord(answer)) throw new Error('it is not a JSON object');
  // The examples of IndieAuth have strings where RFC 7662 has other types, and servers follow those examples.
  const { active, exp, iat, scope = '', me, client_id: client } = answer;
  if (active === false || active === 'false') return { isActive: false };
  if (active !== true && active !== 'true') throw new Error('it does not say whether the token is active');
  if (typeof scope !== 'string' && scope !== null) throw new Error('its scope is not a string');
  return {
    isActive: true,
    me: typeof me === 'string' ? tryProfileUrl(me) : undefined,
    scopes: [...new Set((scope ?? '').split(' ').filter(isScope))],
    client: typeof client === 'string' ? client.slice(0, 1_024) : null,
    issued: parseTime('iat', iat),
    expires: parseTime('exp', exp),
    isForHere: isForHere(answer['aud'], baseUrl) && isForHere(answer['resource'], baseUrl),
  };
}

/** Milliseconds from seconds. */
function parseTime(name: string, value: unknown): number | undefined {
  if (value === undefined || value === null) return undefined;
  const isTime =
    typeof value === 'number' || (typeof value === 'string' && /^-?\d{1,15}(\.\d{1,9})?$/.test(value));
  const time = isTime ? Number(value) * 1_000 : Number.NaN;
  if (Number.isFinite(time)) return time;
  throw new Error(`its ${name} is not a time`);
}

function isForHere(audience: unknown, baseUrl: BaseUrl): boolean {
  if (audience === undefined || audience === null) return true;
  const list: readonly unknown[] = Array.isArray(audience) ? audience : [audience];
  return list.some((entry) => typeof entry === 'string' && isOwnResource(entry, baseUrl));
}

function isRecord(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
