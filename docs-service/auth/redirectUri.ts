import type { OAuthClient } from './oauthClient.ts';

/**
 * Whether a browser may be sent to this address, of all that a client could ask for: one of the client's own origin
 * (IndieAuth, 4.2.2), one that the client has published letter by letter, or one on this machine that differs from
 * a published one in its port alone (RFC 8252, 7.3).
 */
export function isRedirectAllowed(client: OAuthClient, redirectUri: string): boolean {
  if (redirectUriProblem(redirectUri) !== undefined) return false;
  return (
    isOfOwnOrigin(client, redirectUri) ||
    client.redirectUris.some((own) => own === redirectUri || differsInPort(own, redirectUri))
  );
}

/** What keeps browsers from being sent to an address, as a sentence for who wrote it; undefined where nothing does. */
export function redirectUriProblem(text: string): string | undefined {
  if (text.length > longest) return `A redirect address has at most ${longest} characters.`;
  // Browsers and servers read spaces, backslashes and letters beyond ASCII each in a way of their own.
  if (!/^[!-~]+$/.test(text) || text.includes('\\'))
    return 'A redirect address has only letters, digits and signs of ASCII, and no backslash.';
  if (text.includes('#')) return 'A redirect address has no fragment: leave "#" out.';
  const url = URL.canParse(text) ? new URL(text) : undefined;
  if (url === undefined) return 'A redirect address is absolute, such as https://app.example.org/callback.';
  if (url.username !== '' || url.password !== '' || /^[^/]*\/\/[^/?]*@/.test(text))
    return 'A redirect address has no user name and no password.';
  if (url.href !== text && url.href !== `${text}/`) return `Write the redirect address as "${url.href}".`;
  const taken = [...url.searchParams.keys()].find((name) => answerNames.has(name));
  if (taken !== undefined)
    return `A redirect address has no parameter "${taken}" of its own: the answer has one by that name.`;
  return schemeProblem(url);
}

/** Whether a host name, as URLs have it, is one of those that the loopback rule is for. */
export function isLoopbackName(hostname: string): boolean {
  return hostname === 'localhost' || hostname === '127.0.0.1' || hostname === '[::1]';
}

/** In characters. */
const longest = 2_048;

/** What the answer adds. */
const answerNames = new Set(['code', 'error', 'error_description', 'iss', 'state']);

/** Schemes that run something, read something here, or lead to another kind of server. */
const refusedSchemes =
  /^(about|blob|chrome|content|data|devtools|edge|facetime|feed|file|filesystem|ftp|gopher|intent|itms-[a-z-]+|jar|javascript|ldaps?|livescript|mailto|market|ms-[a-z-]+|resource|search|search-ms|shell|sip|skype|smb|sms|ssh|tel|telnet|vbscript|view-source|wss?|x-javascript):$/;

function schemeProblem(url: URL): string | undefined {
  if (url.protocol === 'https:') return undefined;
  if (url.protocol === 'http:')
    return isLoopbackName(url.hostname)
      ? undefined
      : 'A redirect address begins with https://. Only localhost, 127.0.0.1 and [::1] may have http://.';
  if (refusedSchemes.test(url.protocol) || !url.href.startsWith(`${url.protocol}/`))
    return `A redirect address cannot begin with "${url.protocol}".`;
  return undefined;
}

/** A client that has registered itself has no address of its own. */
function isOfOwnOrigin({ id, source }: OAuthClient, redirectUri: string): boolean {
  if (source === 'registration' || !/^https?:\/\//.test(id) || !URL.canParse(id)) return false;
  // The origin of a scheme of somebody's own is the text "null".
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
