import { tryJson, withoutUndefined } from '../../protocol/base/json.ts';
import { isLoopback } from '../../protocol/base/loopback.ts';
import { createRedaction } from '../../protocol/base/redaction.ts';
import type { SecretLine } from '../../protocol/messages/initialize.ts';
import { type AdvisedMessage, withAdvice } from '../base/errors.ts';
import { createEmitter } from '../base/event.ts';
import type { Log } from '../base/log.ts';
import type { UserFile } from './userFile.ts';

/** A secret that no log, error or serialisation shows by accident: nothing sees the private field. */
class Secret {
  readonly #text: string;
  constructor(text: string) {
    this.#text = text;
  }
  reveal(): string {
    return this.#text;
  }
}

interface OriginSecrets {
  readonly token?: Secret;
  readonly headers: ReadonlyMap<string, Secret>;
  readonly allowPlainHttp: boolean;
}

export type SecretStore = ReturnType<typeof createSecretStore>;

/** Access tokens and further headers by origin, only in memory. */
export function createSecretStore() {
  const wasSet = createEmitter<void>();
  const byOrigin = new Map<string, OriginSecrets>();
  /** Origins that ask for Basic authentication. */
  const wantingPassword = new Set<string>();
  /** Includes replaced secrets, because later messages may still contain them. */
  const redaction = createRedaction();

  const set = (line: SecretLine) => {
    const origin = new URL(line.origin).origin;
    const headers = new Map(
      Object.entries(line.headers ?? {}).map(([name, value]) => [name.toLowerCase(), new Secret(value)]),
    );
    const { secret: token } = line;
    // The password alone is a secret too.
    const parts = token === null ? [] : [token, token.slice(token.indexOf(':') + 1)];
    for (const text of [...parts, ...Object.values(line.headers ?? {})]) redaction.add(text);
    const allowPlainHttp = line.allowPlainHttp === true;
    if (line.secret === null && headers.size === 0) byOrigin.delete(origin);
    else
      byOrigin.set(origin, {
        ...(line.secret === null ? {} : { token: new Secret(line.secret) }),
        headers,
        allowPlainHttp,
      });
    wasSet.fire();
  };

  const secretsFor = (url: string) => byOrigin.get(new URL(url).origin);
  const headersOf = (url: string, wantsPassword = false) => {
    const { origin } = new URL(url);
    if (wantsPassword) wantingPassword.add(origin);
    return toHeaders(byOrigin.get(origin), wantingPassword.has(origin));
  };
  const isWithheld = (url: string) => isPlainHttp(url) && secretsFor(url)?.allowPlainHttp === false;

  return {
    set,
    /** A line was stored. */
    onDidSet: wasSet.event,
    /** Whether secrets for a runner at this address are withheld because it uses plain http. */
    isWithheld,
    /** Finds everything that is or was stored here. */
    redaction,
    /** Replaces everything that is or was stored here, or looks like a credential, with `***`. */
    redact: redaction.redact,
    /**
     * The headers for a request to this address: those of its origin, and none over plain http except to loopback. Once
     * its server has asked for a user name and a password, a token that has both is sent as that.
     */
    headersFor: (url: string, wantsPassword?: boolean) =>
      isPlainHttp(url) ? {} : headersOf(url, wantsPassword),
    /**
     * The same for a runner at this address. Over plain http, another machine gets them only if the user has allowed
     * that.
     */
    runnerHeadersFor: (url: string, wantsPassword?: boolean) =>
      isWithheld(url) ? {} : headersOf(url, wantsPassword),
  };
}

/** Whether others on the network can read what is sent to this address. */
function isPlainHttp(url: string): boolean {
  return new URL(url).protocol === 'http:' && !isLoopback(url);
}

function toHeaders(
  secrets: OriginSecrets | undefined,
  wantsPassword: boolean,
): Readonly<Record<string, string>> {
  if (!secrets) return {};
  const headers = Object.fromEntries([...secrets.headers].map(([name, value]) => [name, value.reveal()]));
  const token = secrets.token?.reveal();
  if (token === undefined) return headers;
  const isPassword = wantsPassword && token.includes(':');
  const authorization = isPassword ? `Basic ${Buffer.from(token).toString('base64')}` : `Bearer ${token}`;
  return { authorization, ...headers };
}

/**
 * One line of the secrets descriptor.
 * @throws {TypeError} that says what is wrong, without the line's content.
 */
export function parseSecretLine(line: string): SecretLine {
  const value = parseObject(line);
  const { origin, secret, headers, allowPlainHttp } = value;
  if (typeof origin !== 'string' || !URL.canParse(origin))
    throw new TypeError('a secret line needs an "origin"');
  if (secret !== null && (typeof secret !== 'string' || !isHeaderText(secret))) {
    throw new TypeError('a secret line needs a "secret" of printable characters, or null');
  }
  if (headers !== undefined && !isStringRecord(headers))
    throw new TypeError('the "headers" of a secret line are not an object of strings');
  if (allowPlainHttp !== undefined && typeof allowPlainHttp !== 'boolean')
    throw new TypeError('the "allowPlainHttp" of a secret line is neither true nor false');
  return withoutUndefined({ origin, secret, headers, allowPlainHttp });
}

function parseObject(line: string): Readonly<Record<string, unknown>> {
  const value = tryJson(line);
  // A list is left to the checks of its fields.
  if (typeof value === 'object' && value !== null) return value as Readonly<Record<string, unknown>>;
  throw new TypeError('a secret line is not a JSON object');
}

function isStringRecord(value: unknown): value is Readonly<Record<string, string>> {
  return (
    typeof value === 'object' &&
    value !== null &&
    Object.entries(value).every(
      ([name, text]) => /^[\w!#$%&'*+.^`|~-]+$/.test(name) && typeof text === 'string' && isHeaderText(text),
    )
  );
}

function isHeaderText(text: string): boolean {
  return /^[\x20-\x7e]*$/.test(text);
}

export interface RequestSecretsOptions {
  readonly store: SecretStore;
  readonly read: (url: string) => Promise<void>;
  readonly userFile: Pick<UserFile, 'path' | 'clientHasSettings'>;
  readonly log: Log;
}

export type RequestSecrets = ReturnType<typeof createRequestSecrets>;

/** The secrets for requests, which wait until those of the start are read. */
export function createRequestSecrets({ store, read, userFile, log }: RequestSecretsOptions) {
  const logged = new Set<string>();
  const whyWithheld = (url: string) =>
    store.isWithheld(url) ? sayWithheld(new URL(url).origin, userFile) : undefined;
  const changed = createEmitter<void>();
  let atStart = Promise.resolve();
  return {
    /** A secret was set after the start. */
    onDidChange: changed.event,
    /** The address of the default server is known, so that reading can begin. */
    start(url: string): void {
      atStart = read(url).then(() => store.onDidSet(changed.fire));
    },
    /** The headers for a request to this address, whose server may just have asked for a user name and a password. */
    async headersFor(url: string, wantsPassword?: boolean): Promise<Readonly<Record<string, string>>> {
      await atStart;
      return store.headersFor(url, wantsPassword);
    },
    /** The same for a runner at this address. If they are withheld, the log says so once. */
    async runnerHeadersFor(url: string, wantsPassword?: boolean): Promise<Readonly<Record<string, string>>> {
      await atStart;
      const reason = whyWithheld(url)?.message;
      if (reason !== undefined && !logged.has(reason)) log.warn(reason, { code: 'token' });
      if (reason !== undefined) logged.add(reason);
      return store.runnerHeadersFor(url, wantsPassword);
    },
    /** Why a runner at this address does not get its token, and what to do about it; undefined if none is withheld. */
    whyWithheld,
  };
}

function sayWithheld(
  origin: string,
  { path, clientHasSettings }: RequestSecretsOptions['userFile'],
): AdvisedMessage {
  const way = clientHasSettings
    ? 'set the token again and allow it'
    : `add "origin": "${origin}" and "allowPlainHttp": true to its entry in "auth" of ${path}`;
  return withAdvice({
    code: 'use-https',
    problem: `The token for ${origin} is not sent over plain http to another machine.`,
    text: `Use https, or ${way}.`,
  });
}
