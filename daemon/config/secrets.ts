import { inspect } from 'node:util';
import { isLoopback } from '../../protocol/address.ts';
import type { SecretLine } from '../../protocol/secrets.ts';
import { createEmitter, type Event } from '../event.ts';
import { createRedaction, type Redaction } from './redaction.ts';

/** A secret that no log, error or serialisation shows by accident. */
class Secret {
  readonly #text: string;
  constructor(text: string) {
    this.#text = text;
  }
  reveal(): string {
    return this.#text;
  }
  toString(): string {
    return '***';
  }
  toJSON(): string {
    return '***';
  }
  [inspect.custom](): string {
    return '***';
  }
}

interface OriginSecrets {
  readonly token?: Secret;
  readonly headers: ReadonlyMap<string, Secret>;
}

/** Access tokens and further headers by origin, in memory alone. */
export interface SecretStore {
  set(line: SecretLine): void;
  /** A line was taken. */
  readonly onDidSet: Event<void>;
  /** The headers for a request to this address: those of its own origin, and none over plain http beyond loopback. */
  headersFor(url: string): Readonly<Record<string, string>>;
  /** Finds everything that is or was stored here. */
  readonly redaction: Redaction;
  /** The text with everything that is or was stored here, or looks like a credential, replaced by `***`. */
  redact(text: string): string;
}

export function createSecretStore(): SecretStore {
  const wasSet = createEmitter<void>();
  const byOrigin = new Map<string, OriginSecrets>();
  /** Also of those that were replaced: they may still stand in what is said later. */
  const redaction = createRedaction();

  const set = (line: SecretLine) => {
    const origin = new URL(line.origin).origin;
    const headers = new Map(
      Object.entries(line.headers ?? {}).map(([name, value]) => [name.toLowerCase(), new Secret(value)]),
    );
    for (const text of [line.secret ?? '', ...Object.values(line.headers ?? {})]) redaction.add(text);
    if (line.secret === null && headers.size === 0) byOrigin.delete(origin);
    else
      byOrigin.set(origin, { ...(line.secret === null ? {} : { token: new Secret(line.secret) }), headers });
    wasSet.fire();
  };

  const headersFor = (url: string) => {
    const secrets = byOrigin.get(new URL(url).origin);
    if (!secrets || (url.startsWith('http:') && !isLoopback(url))) return {};
    const headers = Object.fromEntries([...secrets.headers].map(([name, value]) => [name, value.reveal()]));
    return secrets.token ? { authorization: `Bearer ${secrets.token.reveal()}`, ...headers } : headers;
  };

  return { set, onDidSet: wasSet.event, headersFor, redaction, redact: redaction.redact };
}

/**
 * One line of the secrets descriptor.
 * @throws {TypeError} that says what is wrong, without the line's content.
 */
export function parseSecretLine(line: string): SecretLine {
  const value = parseObject(line);
  const { origin, secret, headers } = value;
  if (typeof origin !== 'string' || !URL.canParse(origin))
    throw new TypeError('a secret line needs an "origin"');
  if (secret !== null && (typeof secret !== 'string' || !isHeaderText(secret))) {
    throw new TypeError('a secret line needs a "secret" of printable characters, or null');
  }
  if (headers === undefined) return { origin, secret };
  if (!isStringRecord(headers))
    throw new TypeError('the "headers" of a secret line are not an object of strings');
  return { origin, secret, headers };
}

function parseObject(line: string): Readonly<Record<string, unknown>> {
  try {
    const value: unknown = JSON.parse(line);
    if (typeof value === 'object' && value !== null) return value as Readonly<Record<string, unknown>>;
  } catch {
    // The parser's message would quote the line, which is the secret.
  }
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
