import type { OAuthClient } from './oauthClient.ts';

/**
 * Whether a browser may be sent to this address on behalf of a client: an address of the client's own origin
 * (IndieAuth, 4.2.2), one that the client has published letter by letter, or one on this machine that differs from a
 * published one only in its port (RFC 8252, 7.3).
 */
export function isRedirectAllowed(client: OAuthClient, redirectUri: string): boolean {
  if (redirectUriProblem(redirectUri) !== undefined) return false;
  return (
    isOfOwnOrigin(client, redirectUri) ||
    client.redirectUris.some((own) => own === redirectUri || differsInPort(own, redirectUri))
  );
}

/** Why no browser may be sent to an address, as a sentence for its author; undefined if one may. */
export function redirectUriProblem(text: string): string | undefined {
  if (text.length > maxLength) return `A redirect address has at most ${maxLength} characters.`;
  // Browsers and servers read spaces, backslashes and letters beyond ASCII differently.
  if (!/^[!-~]+$/.test(text) || text.includes('\\'))
    return 'A redirect address must have only letters, digits and signs of ASCII, and no backslash.';
  if (text.includes('#')) return 'A redirect address must not have a fragment: leave "#" out.';
  const url = URL.canParse(text) ? new URL(text) : undefined;
  if (url === undefined)
    return 'A redirect address must be absolute, such as https://app.example.org/callback.';
  if (url.username !== '' || url.password !== '' || /^[^/]*\/\/[^/?]*@/.test(text))
    return 'A redirect address must not have a user name or a password.';
  if (url.href !== text && url.href !== `${text}/`) return `Write the redirect address as "${url.href}".`;
  const taken = [...url.searchParams.keys()].find((name) => answerNames.has(name));
  if (taken !== undefined)
    return `A redirect address must not have a parameter "${taken}": the answer adds one with that name.`;
  return schemeProblem(url);
}

/** Whether the host name of a URL is one of those that the loopback rule is for. */
export function isLoopbackName(hostname: string): boolean {
  return hostname === 'localhost' || hostname === '127.0.0.1' || hostname === '[::1]';
}

/**
 * Whether the answer stays on the machine of the browser. An app's own scheme may have any host, so it does not count.
 */
export function isLoopbackRedirect(text: string): boolean {
  const { protocol, hostname } = new URL(text);
  return /^https?:$/.test(protocol) && isLoopbackName(hostname);
}

/** In characters. */
const maxLength = 2_048;

/** Parameters that the answer adds. */
const answerNames = new Set(['code', 'error', 'error_description', 'iss', 'state']);

/** Schemes that run something, read something on this machine, or lead to another kind of server. */
const refusedSchemes =
  /^(about|blob|chrome|content|data|devtools|edge|facetime|feed|file|filesystem|ftp|gopher|intent|itms-[a-z-]+|jar|javascript|ldaps?|livescript|mailto|market|ms-[a-z-]+|resource|search|search-ms|shell|sip|skype|smb|sms|ssh|tel|telnet|vbscript|view-source|wss?|x-javascript):$/;

function schemeProblem(url: URL): string | undefined {
  if (url.protocol === 'https:') return undefined;
  if (url.protocol === 'http:')
    return isLoopbackName(url.hostname)
      ? undefined
      : 'A redirect address must begin with https://. Only localhost, 127.0.0.1 and [::1] may have http://.';
  if (refusedSchemes.test(url.protocol) || !url.href.startsWith(`${url.protocol}/`))
    return `A redirect address cannot begin with "${url.protocol}".`;
  return undefined;
}

/** A client that registered itself has no address of its own. */
function isOfOwnOrigin({ id, source }: OAuthClient, redirectUri: string): boolean {
  if (source === 'registration' || !/^https?:\/\//.test(id) || !URL.canParse(id)) return false;
  // The origin of a custom scheme is the text "null".
  return /^https?:/.test(redirectUri) && new URL(id).origin === new URL(redirectUri).origin;
}

function differsInPort(own: string, asked: string): boolean {
  if (!own.startsWith('http://') || !asked.startsWith('http://') || !URL.canParse(own)) return false;
  const [mine, other] = [new URL(own), new URL(asked)];
  return (
    isLoopbackName(mine.hostname) &&
    mine.hostname === other.hostname &&
    mine.pathname === other.pathname &&
    mine.search === other.search
  );
}
