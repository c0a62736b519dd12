import type { AccessDatabase, AccessStatement } from './accessDatabase.ts';

/** The clients that registered themselves, and those that the owner added. */
export type ClientStore = ReturnType<typeof createClientStore>;

/**
 * Registrations without a grant that are kept at once. Those with a grant do not count: strangers can neither drop them
 * nor use up their room.
 */
const capacity = 1_000;
/** Milliseconds after which a registration without a grant is deleted. */
const unusedLifetime = 86_400_000;

const isUngranted = "source = 'registration' AND granted IS NULL";

export function createClientStore(database: AccessDatabase) {
  const read = async (statement: string, ...values: readonly string[]): Promise<readonly OAuthClient[]> => {
    const rows = await database.rows<ClientRow>(
      `SELECT id, name, uri, redirect_uris AS "redirectUris", source FROM docs_clients ${statement}`,
      ...values,
    );
    // Only this program writes the column.
    return rows.map((row) => ({ ...row, redirectUris: JSON.parse(row.redirectUris) as string[] }));
  };
  return {
    find: async (id: string): Promise<OAuthClient | undefined> => (await read('WHERE id = ?', id))[0],
    list: () => read('ORDER BY created DESC, id'),
    /** Replaces a client with the same id. */
    add: (client: OAuthClient, now: number): Promise<void> => database.batch(replaceClient(client, now)),
    /** Adds a client that registered itself. The oldest without a grant makes room. */
    register: (client: OAuthClient, now: number): Promise<void> =>
      database.batch([
        [`DELETE FROM docs_clients WHERE ${isUngranted} AND created < ?`, now - unusedLifetime],
        [
          `DELETE FROM docs_clients WHERE ${isUngranted} AND id IN (
             SELECT id FROM docs_clients WHERE ${isUngranted} ORDER BY created DESC, id LIMIT 1000000 OFFSET ?)`,
          capacity - 1,
        ],
        ...replaceClient(client, now),
      ]),
    /** The owner has allowed the client, so it stays. */
    async noteGrant(id: string, now: number): Promise<void> {
      await database.rows('UPDATE docs_clients SET granted = ? WHERE id = ?', now, id);
    },
    /** Also ends what was granted to it. False if there is no such client. */
    async remove(id: string): Promise<boolean> {
      const removed = await database.rows('DELETE FROM docs_clients WHERE id = ? RETURNING id', id);
      const ended = await database.rows('DELETE FROM docs_grants WHERE client = ? RETURNING id', id);
      return removed.length + ended.length > 0;
    },
  };
}

function replaceClient({ id, name, uri, redirectUris, source }: OAuthClient, now: number): AccessStatement[] {
  return [
    ['DELETE FROM docs_clients WHERE id = ?', id],
    [
      'INSERT INTO docs_clients (id, name, uri, redirect_uris, source, created) VALUES (?, ?, ?, ?, ?, ?)',
      ...[id, name, uri, JSON.stringify(redirectUris), source, now],
    ],
  ];
}

interface ClientRow extends Omit<OAuthClient, 'redirectUris'> {
  /** As JSON. */
  readonly redirectUris: string;
}

/** A program that asks an owner for access. */
export interface OAuthClient {
  /** The `client_id`: the address of its metadata document, or the name that its registration gave it. */
  readonly id: string;
  /** The client's own name, which nobody has checked. */
  readonly name: string | null;
  /** Its home page, according to the client. */
  readonly uri: string | null;
  /** Absolute, as the client wrote them. */
  readonly redirectUris: readonly string[];
  /** How the service learned of it: from its metadata document, by its registration, or by `client add`. */
  readonly source: 'document' | 'registration' | 'operator';
}

/** In characters, as people count them. */
const maxNameLength = 100;

/**
 * The name that a client gives itself, without anything that could change how the page around it reads: control
 * characters, invisible ones, and those that change the writing direction. Null if nothing is left.
 */
export function tryClientName(text: unknown): string | null {
  if (typeof text !== 'string') return null;
  const plain = text
    .slice(0, 10 * maxNameLength)
    .normalize('NFC')
    .replace(/[\t-\r\u0085\u2028\u2029\p{Zs}]+/gu, ' ')
    .replace(/[\p{Cc}\p{Cf}\p{Cs}\p{Co}\p{Cn}]/gu, '')
    .trim();
  // A letter can carry any number of marks, which would be drawn all over the page.
  const letters = [...new Intl.Segmenter('en').segment(plain)].map(({ segment }) =>
    [...segment].slice(0, 8).join(''),
  );
  const name =
    letters.length > maxNameLength ? `${letters.slice(0, maxNameLength - 1).join('')}…` : letters.join('');
  return /[\p{L}\p{N}\p{S}\p{P}]/u.test(name) ? name : null;
}

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
