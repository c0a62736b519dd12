import { OAuthError, type OAuthTokens, refreshAuthorization } from '@modelcontextprotocol/client';
import { isLoopback } from '../../../protocol/base/loopback.ts';
import { RunnerError } from '../../base/errors.ts';
import type { HttpServerEntry } from '../serverEntry.ts';
import type { KeptLogin, LoginStore } from './loginStore.ts';
import { codeOf, createOAuthFetch, loginFailure } from './oauthFetch.ts';

export interface AccessTokensOptions {
  readonly store: LoginStore;
  /** Removes a secret from every message from now on. */
  readonly hide: (secret: string) => void;
  readonly warn: (sentence: string) => void;
  readonly now: () => number;
}

/** Access tokens of the servers that the user has logged in to. They are kept only in memory. */
export class AccessTokens {
  readonly #options: AccessTokensOptions;
  readonly #known = new Map<string, AccessToken & { readonly loginId: string | undefined }>();
  /** Logins that could not be written, by the refresh token that the file still has. */
  readonly #unkept = new Map<string, KeptLogin>();

  constructor(options: AccessTokensOptions) {
    this.#options = options;
  }

  /** Undefined without a login. @throws {RunnerError} if the token cannot be renewed now. */
  async tokenFor(entry: HttpServerEntry, signal: AbortSignal): Promise<string | undefined> {
    if (!canHaveToken(entry.url)) return undefined;
    const login = await this.#currentLogin(entry);
    // Most servers need no login, and then no lock is taken.
    return login && (this.#knownOf(entry, login) ?? this.#obtain(entry, undefined, signal));
  }

  /** A token other than the one that the server has refused; undefined if only a new login helps. */
  async renew(entry: HttpServerEntry, refused: string, signal: AbortSignal): Promise<string | undefined> {
    if (this.#known.get(keyOf(entry))?.text === refused) this.#known.delete(keyOf(entry));
    return canHaveToken(entry.url) ? this.#obtain(entry, refused, signal) : undefined;
  }

  /** Undefined if the token is of a login that has ended, or of another one. */
  #knownOf(entry: HttpServerEntry, login: KeptLogin): string | undefined {
    const token = this.#known.get(keyOf(entry));
    return token?.loginId === login.id ? this.#freshText(token) : undefined;
  }

  #freshText(token: AccessToken | undefined): string | undefined {
    return token && this.#options.now() < token.expiresAt - margin ? token.text : undefined;
  }

  /**
   * Another process may have logged out, or in as somebody else, so the file decides. If the entry names another client
   * than the login has, it is not its login.
   */
  async #currentLogin(entry: HttpServerEntry): Promise<KeptLogin | undefined> {
    const { url, clientId } = entry;
    const login = await this.#options.store.read(url);
    const isOurs = login?.isClientNamed ? login.client.client_id === clientId : clientId === undefined;
    if (login && isOurs) return login;
    this.#known.delete(keyOf(entry));
    return undefined;
  }

  #obtain(entry: HttpServerEntry, refused: string | undefined, signal: AbortSignal) {
    const { store, hide } = this.#options;
    const work = async () => {
      const login = await this.#currentLogin(entry);
      if (!login) return undefined;
      const other = this.#knownOf(entry, login);
      // Another request was refused too, and has already obtained a new token.
      if (other !== undefined && other !== refused) return other;
      for (const secret of [login.refreshToken, login.client.client_secret]) if (secret) hide(secret);
      const token = await this.#tokenOf(login);
      if (!token || token.text === refused) return undefined;
      hide(token.text);
      this.#known.set(keyOf(entry), { ...token, loginId: login.id });
      return token.text;
    };
    return store.alone(entry.url, work, signal);
  }

  async #tokenOf(login: KeptLogin): Promise<AccessToken | undefined> {
    const { refreshToken, accessToken: text, expiresAt = 0 } = login;
    if (refreshToken !== undefined) return this.#refresh(login, refreshToken);
    const token = text === undefined ? undefined : { text, expiresAt };
    return this.#freshText(token) === undefined ? undefined : token;
  }

  async #refresh(kept: KeptLogin, used: string): Promise<AccessToken | undefined> {
    const { store, hide, now } = this.#options;
    const login = this.#unkept.get(used) ?? kept;
    const { metadata, client: clientInformation, resource, refreshToken = used } = login;
    try {
      // The request has its own time limit. It goes on if the caller aborts, because the new token must not be lost.
      const fetchFn = createOAuthFetch({ server: login.server, signal: new AbortController().signal });
      const request = { metadata, clientInformation, refreshToken, resource, fetchFn };
      const tokens = await refreshAuthorization(metadata.issuer, request);
      const token = toAccessToken(tokens, now());
      if (tokens.refresh_token) {
        hide(tokens.refresh_token);
        await this.#keep({ ...login, refreshToken: tokens.refresh_token }, used);
      }
      return token;
    } catch (error) {
      if (!isOver(error)) throw loginFailure(error, metadata.issuer);
      await store.remove(login.server);
      return undefined;
    }
  }

  /** The old token may be invalid once it was used, so the new one is saved before it is needed. */
  async #keep(login: KeptLogin, used: string): Promise<void> {
    const { store, warn } = this.#options;
    try {
      await store.write(login);
    } catch (error) {
      this.#unkept.set(used, login);
      warn(
        `The renewed login to ${new URL(login.server).origin} could not be saved (${codeOf(error)}). It is valid until Runner ends. Free some space, or log in again later.`,
      );
    }
  }
}

function keyOf({ url, clientId }: HttpServerEntry): string {
  return JSON.stringify([url, clientId]);
}

/** Tokens go over https, or stay on this machine. */
export function canHaveToken(url: string): boolean {
  return url.startsWith('https:') || isLoopback(url);
}

/** Whether the authorization server says that the login has ended, or that it does not know this client. */
function isOver(error: unknown): boolean {
  return (
    error instanceof OAuthError && /^(invalid_grant|invalid_client|unauthorized_client)$/.test(error.code)
  );
}

/** How long before it expires an access token is renewed, in ms. */
const margin = 30_000;
const maxLength = 32_768;
/** For a token without a lifetime, in ms: it is used until the server refuses it. */
const maxLifetime = 365 * 24 * 3_600_000;

interface AccessToken {
  readonly text: string;
  /** In ms since 1970. */
  readonly expiresAt: number;
}

/**
 * An access token that can be sent in a header, and how long it is valid.
 * @throws {RunnerError} if it cannot be used. The message never quotes it.
 */
export function toAccessToken(tokens: OAuthTokens, now: number): AccessToken {
  const { access_token: text, token_type: type, expires_in: seconds } = tokens;
  if (type.toLowerCase() !== 'bearer' || !isTokenText(text) || !isTokenText(tokens.refresh_token ?? 'none'))
    throw new RunnerError('bad-response', 'The login returned a token of a type that Runner cannot use.');
  // A lifetime that is negative or not a number does not count.
  const lifetime =
    seconds !== undefined && seconds > 0 ? Math.min(seconds * 1_000, maxLifetime) : maxLifetime;
  return { text, expiresAt: now + lifetime };
}

function isTokenText(text: string): boolean {
  return text.length <= maxLength && /^[\x21-\x7e]+$/.test(text);
}
