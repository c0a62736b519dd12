import { selectClientAuthMethod } from '@modelcontextprotocol/client';
import type { KeptLogin } from './loginStore.ts';
import { createOAuthFetch } from './oauthFetch.ts';

/** Tells the authorization server that a login has ended (RFC 7009). False where it does not offer that, or did not confirm it. */
export async function revoke(login: KeptLogin, signal: AbortSignal): Promise<boolean> {
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
  const inHeader = method === 'client_secret_basic' && secret !== undefined;
  return {
    ...(inHeader
      ? { headers: { authorization: `Basic ${Buffer.from(`${id}:${secret}`).toString('base64')}` } }
      : {}),
    body: new URLSearchParams({
      token,
      token_type_hint: refreshToken === undefined ? 'access_token' : 'refresh_token',
      ...(inHeader ? {} : { client_id: id }),
      ...(!inHeader && secret !== undefined ? { client_secret: secret } : {}),
    }),
  };
}
