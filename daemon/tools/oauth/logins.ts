import { randomBytes } from 'node:crypto';
import { selectClientAuthMethod } from '@modelcontextprotocol/client';
import { orAborted } from '../../../protocol/base/abort.ts';
import type { FinishLoginResult, LoginResult, LogoutResult } from '../../../protocol/messages/tools.ts';
import { InvalidParamsError, RunnerError } from '../../base/errors.ts';
import type { HttpServerEntry } from '../serverEntry.ts';
import { type AccessTokensOptions, canHaveToken } from './accessTokens.ts';
import { beginAuthorization, findAuthority } from './authorization.ts';
import type { KeptLogin } from './loginStore.ts';
import { type LoopbackRedirect, openLoopbackRedirect } from './loopbackRedirect.ts';
import { codeOf, createOAuthFetch, loginFailure } from './oauthFetch.ts';

/** How long a user has to log in, in ms. */
const timeLimit = 600_000;

interface PendingLogin {
  readonly redirect: LoopbackRedirect;
  readonly done: Promise<FinishLoginResult>;
  end(): void;
}

/** Logging in to tool servers, and out. */
export class Logins {
  readonly #options: Omit<AccessTokensOptions, 'warn'>;
  readonly #onDidChange: () => void;
  readonly #pending = new Map<string, PendingLogin>();

  /** `onDidChange` is called when a login has begun or ended. */
  constructor(options: Omit<AccessTokensOptions, 'warn'>, onDidChange: () => void) {
    this.#options = options;
    this.#onDidChange = onDidChange;
  }

  /** Ends an earlier login to the same server. @throws {RunnerError} */
  async begin(entry: HttpServerEntry, signal: AbortSignal): Promise<LoginResult> {
    if (!canHaveToken(entry.url))
      throw new RunnerError(
        'not-supported',
        'Its address is plain http on another machine, where no token is sent. Enter its https address.',
      );
    this.#pending.get(entry.name)?.end();
    const fetch = createOAuthFetch({ server: entry.url, signal });
    const authority = await findAuthority(entry, fetch, signal).catch((error) => {
      throw loginFailure(error, entry.url);
    });
    const { issuer } = authority.metadata;
    const state = randomBytes(32).toString('base64url');
    const redirect = await openLoopbackRedirect(state);
    const ended = new AbortController();
    const end = () => {
      clearTimeout(timer);
      redirect.close();
      ended.abort();
      if (this.#pending.get(entry.name)?.redirect === redirect) this.#pending.delete(entry.name);
    };
    const timer = setTimeout(end, timeLimit);
    try {
      const { url, redeem } = await beginAuthorization(entry, authority, { redirect, state, fetch });
      const redeemed = async () => redeem(await redirect.answer, this.#options.now(), ended.signal);
      const done = this.#complete(redeemed, issuer, ended.signal).finally(() => setImmediate(end));
      // It may fail before anybody waits for it.
      done.catch(() => undefined);
      this.#pending.set(entry.name, { redirect, done, end });
      return { url, redirectUrl: redirect.address };
    } catch (error) {
      end();
      throw loginFailure(error, issuer);
    }
  }

  /**
   * Waits for the browser, or takes the address that it was sent to. An aborted signal ends the login. @throws
   * {RunnerError}
   */
  async finish(
    name: string,
    redirectedTo: string | undefined,
    signal: AbortSignal,
  ): Promise<FinishLoginResult> {
    const login = this.#pending.get(name);
    if (!login) throw new InvalidParamsError('server', 'no login to it was started, or the login has ended');
    if (redirectedTo !== undefined) login.redirect.takeAddress(redirectedTo);
    try {
      return await orAborted(login.done, signal);
    } finally {
      if (signal.aborted) login.end();
    }
  }

  async end({ url }: HttpServerEntry, signal: AbortSignal): Promise<LogoutResult> {
    const { store } = this.#options;
    const take = async () => {
      const kept = await store.read(url);
      await store.remove(url);
      return kept;
    };
    const login = await store.alone(url, take, signal);
    if (!login) return { wasLoggedIn: false, isRevoked: false };
    this.#onDidChange();
    return { wasLoggedIn: true, isRevoked: await revoke(login, signal) };
  }

  close(): void {
    for (const { end } of this.#pending.values()) end();
  }

  async #complete(
    redeem: () => Promise<KeptLogin>,
    issuer: string,
    signal: AbortSignal,
  ): Promise<FinishLoginResult> {
    const { store, hide } = this.#options;
    try {
      const login = await redeem();
      for (const secret of [login.refreshToken, login.accessToken, login.client.client_secret])
        if (secret) hide(secret);
      await store.alone(login.server, () => store.write(login).catch(throwUnsaved), signal);
      this.#onDidChange();
      return login.scope === undefined ? {} : { scope: login.scope };
    } catch (error) {
      throw loginFailure(error, issuer);
    }
  }
}

function throwUnsaved(cause: unknown): never {
  throw new RunnerError(
    'not-supported',
    `The login succeeded, but could not be saved on this machine (${codeOf(cause)}). Free some space, and log in again.`,
    { cause },
  );
}

/**
 * Revokes the tokens of a login that has ended (RFC 7009). False if the server does not offer that or did not confirm
 * it.
 */
async function revoke(login: KeptLogin, signal: AbortSignal): Promise<boolean> {
  const { metadata, refreshToken, accessToken, server } = login;
  const token = refreshToken ?? accessToken;
  if (metadata.revocation_endpoint === undefined || token === undefined) return false;
  try {
    const { ok } = await createOAuthFetch({ server, signal })(metadata.revocation_endpoint, {
      method: 'POST',
      ...revocationRequest(login, token),
    });
    return ok;
  } catch {
    signal.throwIfAborted();
    return false;
  }
}

function revocationRequest({ metadata, client, refreshToken }: KeptLogin, token: string) {
  const { client_id: id, client_secret: secret } = client;
  const method = selectClientAuthMethod(client, metadata.token_endpoint_auth_methods_supported ?? []);
  const body = new URLSearchParams({
    token,
    token_type_hint: refreshToken === undefined ? 'access_token' : 'refresh_token',
  });
  if (method === 'client_secret_basic' && secret !== undefined)
    return { headers: { authorization: `Basic ${Buffer.from(`${id}:${secret}`).toString('base64')}` }, body };
  body.set('client_id', id);
  if (secret !== undefined) body.set('client_secret', secret);
  return { body };
}
